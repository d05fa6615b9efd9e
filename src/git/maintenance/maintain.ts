import { dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import { type Fs, holdingLock } from '../../storage/files.ts'
import { gitOn, type GitResult } from '../program/git-process.ts'
import { yieldToEventLoop } from '../../base/scheduling.ts'
import { CorruptObject, PackGone } from '../objects/errors.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { PackIndex } from '../packs/pack-index-reader.ts'

export interface MaintenanceOptions {
  /** Tidies up even if little has accumulated. */
  readonly anyway?: boolean
  /** Stops git when aborted. Nothing is lost, and the next run continues. */
  readonly signal?: AbortSignal
}

/** The counts before and after tidying up, and git's error if it could not finish. */
export interface Maintained {
  readonly before: ObjectCounts
  readonly after: ObjectCounts
  readonly problem: string | undefined
}

/**
 * Repacks a repository and packs its refs with git, in the background, if this is worthwhile. Undefined if there was nothing to do, or
 * another process works on the same project for long. Reads and writes continue: every object is in some pack at all times, packs that are
 * published meanwhile are included or left alone, and nothing is ever pruned, whether reachable or not. A repack whose packs are removed
 * meanwhile (see consolidatePacks), and `pack-refs` while a ref is locked, fail without harm; this is the answered problem.
 */
export async function maintain(
  fs: Fs,
  gitdir: string,
  { anyway = false, signal }: MaintenanceOptions = {},
): Promise<Maintained | undefined> {
  const before = countObjects(fs, gitdir)
  if (!(anyway ? isWorthAnything(before) : isMuch(before))) return undefined
  try {
    // The lock is in the project's folder: one repository of a project at a time, in all processes.
    return await holdingLock(fs, dirname(dirname(gitdir)), 'upkeep', async () => {
      const problem = await tidyUp(fs, gitdir, before, signal)
      return { before, after: countObjects(fs, gitdir), problem }
    })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'locked') return undefined
    throw error
  }
}

const MAX_PACKS = 8
const MAX_LOOSE_OBJECTS = 256
const MAX_LOOSE_REFS = 64

/** With more packs, git joins all of them. */
const MAX_PACKS_LEFT = 5

/** The options of `git repack -a -d -k`: packs everything, whether reachable or not. */
const ALL_IN_ONE = [
  'pack-objects',
  ...['--all', '--reflog', '--indexed-objects', '--keep-unreachable', '--pack-loose-unreachable'],
  ...['--honor-pack-keep', '--keep-true-parents', '--delta-base-offset', '--non-empty', '--quiet'],
]

/** Git reads a history of this many bytes faster with a commit graph. */
const MIN_BYTES_FOR_GRAPH = 256 * 1024

/**
 * Everything is on the disk before anything is removed; one thread and little memory; no bitmaps, reverse indexes or lists for dumb HTTP
 * clients, because they cost more space than they save time.
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
  return packs > MAX_PACKS || looseObjects > MAX_LOOSE_OBJECTS || looseRefs > MAX_LOOSE_REFS
}

function isWorthAnything({ packs, looseObjects, looseRefs }: ObjectCounts): boolean {
  return packs > 1 || looseObjects > 0 || looseRefs > 0
}

/** Tidies up step by step; answers git's message if a step failed. */
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
    // Packs that are each at least twice as large as all smaller ones together are not changed.
    await repack(['repack', '--geometric=2', '-n', '-q'])
    if (signal?.aborted !== true && countObjects(fs, gitdir).packs > MAX_PACKS_LEFT)
      await repack([...ALL_IN_ONE, `${gitdir}/objects/pack/pack`])
    // After a failure there may be a pack whose name is not synced yet.
    if (signal?.aborted !== true && results.every(({ code }) => code === 0))
      results.push(await git(['prune-packed', '-q']))
    if (packedBytes > MIN_BYTES_FOR_GRAPH && signal?.aborted !== true)
      results.push(await git(['commit-graph', 'write', '--reachable', '--no-progress']))
  }
  // Run twice, so that loose refs are removed only after the `packed-refs` with them is synced.
  if (signal?.aborted !== true) results.push(await git(['pack-refs', '--all', '--no-prune']))
  await fs.syncDir(gitdir)
  if (signal?.aborted !== true) results.push(await git(['pack-refs', '--all']))
  const failed = results.find(({ code }) => code !== 0)
  return failed && (failed.complaint || `git ended with ${failed.code}`)
}

/** Syncs new packs before old ones are removed, because git renames a pack without waiting for the disk. */
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

/** Counts of objects and refs that accumulate in a repository. */
interface ObjectCounts {
  /** Packs without a `.keep`, which may be repacked. */
  readonly packs: number
  readonly looseObjects: number
  readonly looseRefs: number
  /** The bytes of all packs. */
  readonly packedBytes: number
}

/** Counts packs, loose objects and loose refs by listing folders, without opening files. */
export function countObjects(fs: Fs, gitdir: string): ObjectCounts {
  const folder = `${gitdir}/objects/pack`
  const names = new Set(fs.readDir(folder) ?? [])
  const packs = [...names].filter((name) => /^pack-.*\.pack$/.test(name))
  const fanOut = (fs.readDir(`${gitdir}/objects`) ?? []).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return {
    packs: packs.filter((name) => !names.has(name.replace(/pack$/, 'keep'))).length,
    looseObjects: sum(fanOut.map((name) => fs.readDir(`${gitdir}/objects/${name}`)?.length ?? 0)),
    looseRefs: looseRefsIn(fs, `${gitdir}/refs`),
    packedBytes: sum(packs.map((name) => fs.stat(`${folder}/${name}`)?.size ?? 0)),
  }
}

function looseRefsIn(fs: Fs, folder: string): number {
  return sum(
    (fs.readDir(folder) ?? []).map((name) => {
      const path = `${folder}/${name}`
      if (fs.stat(path)?.kind === 'folder') return looseRefsIn(fs, path)
      return name.endsWith('.lock') ? 0 : 1
    }),
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

const IDS_BETWEEN_YIELDS = 2000

/**
 * Removes `older` packs all of whose objects are also in `newer` or in other remaining packs, with git's files beside them. A pushed pack may
 * have objects that are in other packs too, and git leaves these out of the new pack. The names of all packs must be on the disk, so that a
 * power cut loses no object. Packs with a `.keep` stay, and so do unreadable ones.
 */
export async function dropRedundantPacks(
  fs: Fs,
  gitdir: string,
  older: readonly string[],
  newer: readonly string[],
): Promise<void> {
  const folder = `${gitdir}/objects/pack`
  const cache = new PackCache()
  try {
    const made = await readable(fs, cache, folder, newer)
    // Without a new pack there is no reason to remove any.
    if (made.length === 0) return
    const left = (await readable(fs, cache, folder, older)).sort((a, b) => a.index.count - b.index.count)
    for (const pack of [...left]) {
      const others = [...made, ...left.filter((it) => it !== pack)]
      const isRedundant = await ifReadable(() => areAllIn(others, pack))
      if (!isRedundant || fs.stat(`${folder}/${pack.name}.keep`)) continue
      left.splice(left.indexOf(pack), 1)
      await removePack(fs, folder, pack.name)
    }
  } finally {
    cache.close()
  }
}

interface OpenPack {
  readonly name: string
  readonly index: PackIndex
}

async function readable(
  fs: Fs,
  cache: PackCache,
  folder: string,
  names: readonly string[],
): Promise<OpenPack[]> {
  const packs: OpenPack[] = []
  for (const name of names) {
    const index = await ifReadable(() => new PackIndex(fs, cache, `${folder}/${name}.idx`))
    if (index && fs.stat(`${folder}/${name}.pack`)) packs.push({ name, index })
  }
  return packs
}

/** Undefined if an index is damaged, or its pack was joined with others meanwhile. */
async function ifReadable<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PackGone || error instanceof CorruptObject) return undefined
    throw error
  }
}

async function areAllIn(others: readonly OpenPack[], pack: OpenPack): Promise<boolean> {
  let looked = 0
  for (const oid of pack.index.oids()) {
    if (!others.some(({ index }) => index.find(oid) !== undefined)) return false
    if (++looked % IDS_BETWEEN_YIELDS === 0) await yieldToEventLoop()
  }
  return true
}

/** The index goes first, because without it a pack is ignored. */
async function removePack(fs: Fs, folder: string, name: string): Promise<void> {
  const names = fs.readDir(folder) ?? []
  // The multi-pack-index may name this pack, and git can write it again.
  const derived = names.filter((file) => file.startsWith('multi-pack-index'))
  const beside = names.filter((file) => file.startsWith(`${name}.`) && !/\.(?:idx|pack)$/.test(file))
  await fs.removeAll(
    [...derived, `${name}.idx`, `${name}.pack`, ...beside].map((file) => `${folder}/${file}`),
  )
}
