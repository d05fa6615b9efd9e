import { recentlyUsed } from '../../base/recently-used.ts'
import type { Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'
import { PackCache } from './pack-cache.ts'
import { PackIndex } from './pack-index-reader.ts'
import { type EncodedPack, type JoinablePack, joinPacks, offsetsIn, placeSynced } from './pack-writer.ts'

/** This many packs of similar size become one. */
export const PACKS_TO_MERGE = 16
/** Git's own repacking handles packs larger than this. */
const LARGEST = 4 * 1024 * 1024

/**
 * Keeps the number of packs small. Each write adds a small pack. The packs of one checkpoint (`fresh`, whose bytes are still in memory)
 * become one, and sixteen packs of similar size become one. So a history of ten thousand commits has about thirty packs. Writers are not
 * blocked, and an object is always in some pack: the new pack is on the disk before the old ones are removed. Packs with companions
 * (`.keep`, `.bitmap`, `.mtimes` …), large packs, and repositories with a multi-pack index are left to git's own repacking. Answers the
 * names of the fresh packs that were removed.
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

const NO_PACKS: ReadonlySet<string> = new Set()

/** Makes one pack of every sixteen of similar size. */
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

/** Packs that cannot be joined byte by byte, because git made them with deltas. Git's own repacking handles them. */
const unfit = recentlyUsed<string, true>(10_000, () => 1)

type NamedPack = JoinablePack & { readonly name: string }

/** Answers the names of the removed packs. */
async function makeOne(fs: Fs, gitdir: string, chosen: readonly NamedPack[]): Promise<ReadonlySet<string>> {
  const joined = joinPacks(chosen)
  if (!joined) throw new Error(`a pack of ${gitdir} cannot be joined with others as it is`)
  await placeSynced(fs, gitdir, joined)
  await fs.syncAll([`${gitdir}/objects/pack`])
  const names = chosen.map(({ name }) => name).filter((name) => name !== joined.name)
  // The index goes first, because without it a pack is ignored.
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

/** The packs that this code may combine. */
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

/** The packs that have only their index beside them; none if a multi-pack index exists, because it names them. */
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
 * The packs to combine: those of the smallest size class that has sixteen. A class spans a factor of sixteen, so an object is rewritten
 * once each time its repository grows sixteenfold. Empty if no class is full.
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
