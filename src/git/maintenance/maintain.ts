import { dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/fs.ts'
import { holdingLock } from '../../storage/lock-file.ts'
import { gitOn, type GitResult } from '../process/git-process.ts'
import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { CorruptObject, PackGone } from '../objects/errors.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { PackIndex } from '../packs/pack-index-reader.ts'

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

/** With more packs, git makes one of all. */
const MAX_PACKS_LEFT = 5

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
    if (signal?.aborted !== true && countObjects(fs, gitdir).packs > MAX_PACKS_LEFT)
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

/** What piles up in a repository that is written to. */
interface ObjectCounts {
  /** Packs that may be repacked: those without a `.keep`. */
  readonly packs: number
  readonly looseObjects: number
  readonly looseRefs: number
  /** Of all packs. */
  readonly packedBytes: number
}

/** Counts what lies about in a repository: a look at some folders, no file is opened. */
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
 * Removes those of the `older` packs whose every object lies in the `newer` or in those that stay, too, with what git keeps beside them: a
 * pack that was pushed holds objects of others twice, and git leaves these out of the newer. The names of all of them must be on the disk:
 * then no power cut leaves an object in none. Packs with a `.keep` stay, and so does what cannot be read.
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
    // With nothing new there is no more reason to remove any than there was before.
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

/** Undefined if an index is damaged, or has been rolled up meanwhile. */
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

/** The index first: what has no index is no pack to anyone. */
async function removePack(fs: Fs, folder: string, name: string): Promise<void> {
  const names = fs.readDir(folder) ?? []
  // It may tell of this pack, and git can derive it again.
  const derived = names.filter((file) => file.startsWith('multi-pack-index'))
  const beside = names.filter((file) => file.startsWith(`${name}.`) && !/\.(?:idx|pack)$/.test(file))
  await fs.removeAll(
    [...derived, `${name}.idx`, `${name}.pack`, ...beside].map((file) => `${folder}/${file}`),
  )
}
