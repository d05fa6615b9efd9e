import { dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { ObjectCounts } from './count-objects.ts'
import { countObjects } from './count-objects.ts'
import { dropRedundantPacks } from '../packs/drop-redundant-packs.ts'
import type { Fs } from '../../storage/fs.ts'
import { holdingLock } from '../../storage/lock-file.ts'
import { gitOn, type GitResult } from '../process/git-process.ts'

export interface MaintenanceOptions {
  /** Tidies up whatever there is, and not only what has become much. */
  readonly anyway?: boolean
  /** Stops git where it is when aborted: nothing is lost, and the next time goes on. */
  readonly signal?: AbortSignal
}

/** What a repository was like before and after it was tidied up; what git said if it could not finish. */
export interface Maintained {
  readonly before: ObjectCounts
  readonly after: ObjectCounts
  readonly problem: string | undefined
}

/**
 * Repacks a repository and packs its refs by the git program, in the background, where that has become worth it; undefined where there was
 * nothing to do, or another process is long at work in the same project. Reading and writing go on: every object is in some pack all the
 * while, a pack that a write publishes meanwhile is either taken in or left alone, and nothing is ever pruned, reachable or not. A repack
 * from which packs were taken away (see consolidatePacks) ends without having done anything, and so does `pack-refs` when somebody holds a
 * ref: that is the problem which is answered, and no harm.
 */
export async function maintain(
  fs: Fs,
  gitdir: string,
  { anyway = false, signal }: MaintenanceOptions = {},
): Promise<Maintained | undefined> {
  const before = countObjects(fs, gitdir)
  if (!(anyway ? isWorthAnything(before) : isMuch(before))) return undefined
  try {
    // In the project's folder: one repository at a time, whichever process asks.
    return await holdingLock(fs, dirname(dirname(gitdir)), 'upkeep', async () => {
      const problem = await tidyUp(fs, gitdir, before, signal)
      return { before, after: countObjects(fs, gitdir), problem }
    })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'locked') return undefined
    throw error
  }
}

/** So many packs, loose objects or loose refs are too many. */
const MANY_PACKS = 8
const MANY_OBJECTS = 256
const MANY_REFS = 64

/** So many packs may be left; with more of them git makes one of all. */
const HANDFUL = 5

/** What `git repack -a -d -k` has packed: everything, reachable or not. */
const ALL_IN_ONE = [
  'pack-objects',
  ...['--all', '--reflog', '--indexed-objects', '--keep-unreachable', '--pack-loose-unreachable'],
  ...['--honor-pack-keep', '--keep-true-parents', '--delta-base-offset', '--non-empty', '--quiet'],
]

/** A history of so many bytes is read faster by git with a graph of its commits. */
const WORTH_A_GRAPH = 256 * 1024

/**
 * Everything on the disk before anything goes; one thread, little memory; no bitmaps, reverse indexes or lists for dumb clients,
 * which take more room than they save time.
 */
const SETTINGS = [
  'core.fsync=all',
  'pack.threads=1',
  'pack.windowMemory=64m',
  'repack.writeBitmaps=false',
  'pack.writeReverseIndex=false',
  'gc.auto=0',
]

function isMuch({ packs, looseObjects, looseRefs }: ObjectCounts): boolean {
  return packs > MANY_PACKS || looseObjects > MANY_OBJECTS || looseRefs > MANY_REFS
}

function isWorthAnything({ packs, looseObjects, looseRefs }: ObjectCounts): boolean {
  return packs > 1 || looseObjects > 0 || looseRefs > 0
}

/** Does one thing after the other, and answers what git said when it refused one. */
async function tidyUp(
  fs: Fs,
  gitdir: string,
  { packs, looseObjects, packedBytes }: ObjectCounts,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const git = (args: readonly string[]): Promise<GitResult> =>
    gitOn(gitdir, [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
      inBackground: true,
      signal,
    })
  const results: GitResult[] = []
  const repack = async (args: readonly string[]): Promise<void> => {
    const older = packsOf(fs, gitdir)
    const result = await git(args)
    results.push(result)
    if (result.code === 0) await settle(fs, gitdir, older)
  }
  if (packs > 1 || looseObjects > 0) {
    // Packs that are each at least twice as large as all smaller ones together stay as they are.
    await repack(['repack', '--geometric=2', '-n', '-q'])
    if (signal?.aborted !== true && countObjects(fs, gitdir).packs > HANDFUL)
      await repack([...ALL_IN_ONE, `${gitdir}/objects/pack/pack`])
    // After a failure there may be a pack whose name is not on the disk yet.
    if (signal?.aborted !== true && results.every(({ code }) => code === 0))
      results.push(await git(['prune-packed', '-q']))
    if (packedBytes > WORTH_A_GRAPH && signal?.aborted !== true)
      results.push(await git(['commit-graph', 'write', '--reachable', '--no-progress']))
  }
  // Twice: no loose ref goes before the name of a `packed-refs` that has it is on the disk.
  if (signal?.aborted !== true) results.push(await git(['pack-refs', '--all', '--no-prune']))
  await fs.syncDir(gitdir)
  if (signal?.aborted !== true) results.push(await git(['pack-refs', '--all']))
  const failed = results.find(({ code }) => code !== 0)
  return failed && (failed.complaint || `git ended with ${failed.code}`)
}

/** git gives a new pack its name without waiting for the disk, so what the pack stands for goes only afterwards. */
async function settle(fs: Fs, gitdir: string, older: readonly string[]): Promise<void> {
  const newer = packsOf(fs, gitdir).filter((name) => !older.includes(name))
  if (newer.length === 0) return
  await fs.syncDir(`${gitdir}/objects/pack`)
  await dropRedundantPacks(fs, gitdir, older, newer)
}

function packsOf(fs: Fs, gitdir: string): string[] {
  return (fs.readDir(`${gitdir}/objects/pack`) ?? [])
    .filter((file) => /^pack-[0-9a-f]{40}\.idx$/.test(file))
    .map((file) => file.slice(0, -'.idx'.length))
}
