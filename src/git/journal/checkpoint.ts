import { dirname } from 'node:path/posix'
import { recentlyUsed } from '../../cache/recently-used.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Fs } from '../../storage/fs.ts'
import {
  type EncodedPack,
  type JoinablePack,
  joinPacks,
  namesAbovePacks,
  offsetsIn,
  placeSynced,
} from '../packs/pack-writer.ts'
import { refPath } from '../refs/ref-store.ts'
import type { JournalRecord, JournalWrite } from './journal-file.ts'
import type { Oid } from '../objects/object.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { PackIndex } from '../packs/pack-index-reader.ts'

/** Syncs everything that the records of a journal tell of, as far as it is still there. */
export async function checkpointJournal(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<void> {
  if (records.some(({ moved }) => moved)) await syncFolderMoves(fs, store, records)
  const writes = records.flatMap((record) => record.writes)
  await syncPublished(fs, store, writes)
}

/** Syncs the names of repositories that were moved. */
export async function syncFolderMoves(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<void> {
  const folders = records.flatMap(({ moved }) =>
    moved ? [dirname(moved.to), dirname(moved.from), moved.to] : [],
  )
  // The new name first, where that matters.
  const paths = [...new Set(folders)].map((folder) => `${store}/${folder}`)
  if (paths.length > 0) await fs.syncAll(paths)
}

/** One is worked on while the disk writes the other. */
const REPOSITORIES_AT_ONCE = 2

/**
 * Syncs the packs, refs and folders that a journal tells of, as far as they are still there. The small packs of a
 * repository become one on the way, which is one sync in place of many.
 */
export async function syncPublished(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const touched = new Map<string, Touched>()
  for (const { repository, moves, pack, created } of writes) {
    const gitdir = `${store}/${repository}`
    const it = touched.get(gitdir) ?? { packs: new Map(), refs: new Set() }
    touched.set(gitdir, it)
    if (pack) it.packs.set(pack.name, pack)
    // The first refs of a new repository are packed.
    if (!created) for (const { ref } of moves) it.refs.add(ref)
  }
  const paths: string[] = []
  const repositories = [...touched]
  while (repositories.length > 0) {
    const some = repositories.splice(0, REPOSITORIES_AT_ONCE).map(([gitdir, it]) => rollUp(fs, gitdir, it))
    for (const found of await Promise.all(some)) for (const path of found) paths.push(path)
  }
  // Folders that several share once, and behind what lies in them.
  if (paths.length > 0) await fs.syncAll([...new Set(paths.reverse())].reverse())
}

/** What was put in place in one repository. */
interface Touched {
  readonly packs: Map<string, EncodedPack>
  readonly refs: Set<string>
}

/** Makes one of the small packs, and answers what has to be synced of the repository: what lies in a folder before that. */
async function rollUp(fs: Fs, gitdir: string, { packs, refs }: Touched): Promise<string[]> {
  const folder = `${gitdir}/objects/pack`
  const fresh = [...packs.values()]
  // Where it cannot be done, nothing is lost: the packs stay as they are until the next time.
  const gone = fresh.length > 0 ? await consolidatePacks(fs, gitdir, fresh).catch(() => NO_PACKS) : NO_PACKS
  const left = [...packs.keys()].filter((name) => !gone.has(name))
  const files = left.flatMap((name) => [`${folder}/${name}.pack`, `${folder}/${name}.idx`])
  // Also for those that are gone: never synced, they would come back torn.
  const folders = new Set(fresh.length > 0 ? [folder] : [])
  for (const ref of refs) {
    const path = refPath(gitdir, ref)
    files.push(path)
    // The folder of the ref may be new itself.
    for (let folder = dirname(path); folder.length >= gitdir.length; folder = dirname(folder))
      folders.add(folder)
  }
  // Whoever made the repository may not have come to that yet: then it would be made again, as it was in the beginning.
  return [...files, ...folders, ...pathsOfRepository(gitdir)]
}

/** What a repository is known by, and its own name last. */
function pathsOfRepository(gitdir: string): string[] {
  return [...['HEAD', 'config', 'packed-refs'].map((name) => `${gitdir}/${name}`), ...namesAbovePacks(gitdir)]
}

const NO_PACKS: ReadonlySet<string> = new Set()

/** Packs of about one size become one. */
const PACKS_TO_MERGE = 16
/** A pack larger than this is left to git's own repacking. */
const LARGEST = 4 * 1024 * 1024

/**
 * Keeps the packs of a repository few. Each write adds a small pack. Those of one checkpoint (`fresh`, whose bytes are still
 * at hand) become one; and sixteen packs of about one size become one, so a history of ten thousand commits lies in some
 * thirty packs. It happens behind the writers' backs: an object is always in some pack, the new one being on the disk before
 * the old ones go. Packs with companions (`.keep`, `.bitmap`, `.mtimes` …), large ones, and repositories with a multi-pack
 * index are left to git's own repacking. Answers the names of the fresh packs that are gone.
 */
export async function consolidatePacks(
  fs: Fs,
  gitdir: string,
  fresh: readonly EncodedPack[],
): Promise<ReadonlySet<string>> {
  const folder = `${gitdir}/objects/pack`
  const own = new Set(loneNames(fs.readDir(folder) ?? []))
  const lone = fresh.filter(({ name }) => own.has(name))
  const gone = lone.length > 1 ? await makeOne(fs, gitdir, lone.map(inMemory)) : NO_PACKS
  if (own.size - gone.size >= PACKS_TO_MERGE) await mergeSizes(fs, gitdir)
  return gone
}

/** Makes one of each sixteen packs of about one size. */
async function mergeSizes(fs: Fs, gitdir: string): Promise<void> {
  const folder = `${gitdir}/objects/pack`
  const cache = new PackCache()
  try {
    for (;;) {
      const chosen = packsToConsolidate(smallPacks(fs, folder, cache))
      if (chosen.length === 0) return
      const read = chosen.map((pack) => onDisk(fs, folder, pack))
      const fit = read.filter((pack) => joinPacks([pack]) !== undefined)
      for (const pack of read) if (!fit.includes(pack)) unfit.set(`${folder}/${pack.name}`, true)
      if (fit.length === read.length) await makeOne(fs, gitdir, fit)
    }
  } finally {
    cache.close()
  }
}

/** Packs that cannot be joined with others as they are: git made them, with deltas. They are left to git's own repacking. */
const unfit = recentlyUsed<string, true>(10_000, () => 1)

type NamedPack = JoinablePack & { readonly name: string }

/** Answers the names of those that are gone. */
async function makeOne(fs: Fs, gitdir: string, chosen: readonly NamedPack[]): Promise<ReadonlySet<string>> {
  const joined = joinPacks(chosen)
  if (!joined) throw new Error(`a pack of ${gitdir} cannot be joined with others as it is`)
  await placeSynced(fs, gitdir, joined)
  await fs.syncAll([`${gitdir}/objects/pack`])
  const names = chosen.map(({ name }) => name).filter((name) => name !== joined.name)
  // The index first: what has no index is no pack to anyone.
  const folder = `${gitdir}/objects/pack`
  await fs.removeAll(names.flatMap((name) => [`${folder}/${name}.idx`, `${folder}/${name}.pack`]))
  return new Set(names)
}

function inMemory({ name, pack, index }: EncodedPack): NamedPack {
  return { name, pack, offsets: offsetsIn(index) }
}

function onDisk(fs: Fs, folder: string, { name, index }: SmallPack): NamedPack {
  const pack = fs.readFile(`${folder}/${name}.pack`)
  if (!pack) throw new Error(`${name} vanished while packs were rolled up`)
  const offsets = new Map<Oid, number>()
  for (const oid of index.oids()) offsets.set(oid, index.find(oid) ?? 0)
  return { name, pack, offsets }
}

/** The packs that are ours to roll up. */
function smallPacks(fs: Fs, folder: string, cache: PackCache): SmallPack[] {
  const packs: SmallPack[] = []
  for (const name of loneNames(fs.readDir(folder) ?? [])) {
    const size = fs.stat(`${folder}/${name}.pack`)?.size
    if (size === undefined || size > LARGEST || unfit.get(`${folder}/${name}`)) continue
    const index = new PackIndex(fs, cache, `${folder}/${name}.idx`)
    packs.push({ name, index, count: index.count })
  }
  return packs
}

/** The packs that have nothing beside them but their index; none where a multi-pack index knows them. */
function loneNames(files: readonly string[]): string[] {
  if (files.includes('multi-pack-index')) return []
  const companions = new Map<string, number>()
  for (const file of files) {
    const name = file.slice(0, file.lastIndexOf('.'))
    companions.set(name, (companions.get(name) ?? 0) + 1)
  }
  return files
    .filter((file) => /^pack-[0-9a-f]{40}\.idx$/.test(file))
    .map((file) => file.slice(0, -'.idx'.length))
    .filter((name) => companions.get(name) === 2)
}

interface SmallPack {
  readonly name: string
  readonly index: PackIndex
  readonly count: number
}

/**
 * The packs that are to become one: those of the smallest size class that holds sixteen. A class spans a factor of sixteen, so
 * an object is written again once each time its repository grows sixteenfold. Empty if no class is full.
 */
export function packsToConsolidate<T extends { readonly count: number }>(packs: readonly T[]): readonly T[] {
  const classes = new Map<number, T[]>()
  for (const pack of packs) {
    const size = Math.floor(Math.log(Math.max(pack.count, 1)) / Math.log(PACKS_TO_MERGE))
    classes.set(size, [...(classes.get(size) ?? []), pack])
  }
  const full = [...classes].filter(([, members]) => members.length >= PACKS_TO_MERGE)
  return full.sort(([a], [b]) => a - b)[0]?.[1] ?? []
}

/**
 * Makes the files of these notes, if they are not there; they are on the disk when it resolves, and so are all other names in their
 * folders.
 */
export async function keepNotes(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  await new TimeSlice().each(paths, (name) => {
    const path = `${store}/${name}`
    if (isNotePath(name) && fs.stat(dirname(path)) && !fs.stat(path)) make(fs, path)
    return undefined
  })
  await syncFolders(fs, store, paths)
}

/** Syncs the folders of these notes. */
export async function syncFolders(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.filter(isNotePath).map((path) => `${store}/${dirname(path)}`))
  for (const folder of folders) if (fs.stat(folder)) await fs.syncDir(folder)
}

/** Another process may have made it just now. */
function make(fs: Fs, path: string): void {
  try {
    fs.create(path, Buffer.alloc(0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** A file of a folder of a project, that could not lead elsewhere. */
export function isNotePath(path: string): boolean {
  return /^(?:[\w-][\w.-]*\/){2}[\w-][\w.-]*$/.test(path)
}
