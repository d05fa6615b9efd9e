import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import type { Fs } from '../../storage/fs.ts'
import { CorruptObject, PackGone } from '../objects/errors.ts'
import { PackCache } from './pack-cache.ts'
import { PackIndex } from './pack-index-reader.ts'

/** So many ids are looked up before other work gets its turn. */
const YIELD_EVERY = 2000

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
    if (++looked % YIELD_EVERY === 0) await yieldToEventLoop()
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
