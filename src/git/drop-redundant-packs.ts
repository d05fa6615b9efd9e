import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fs } from './fs.ts'
import { PackCache } from './pack-cache.ts'
import { PackIndex } from './pack-index.ts'
import { Unreadable } from './unreadable.ts'
import { Vanished } from './vanished.ts'

/** So many ids are looked up before other work gets its turn. */
const BREATH = 2000

/**
 * Removes those of the `older` packs whose every object lies in one of the `newer`, too, with what git keeps beside them. The names
 * of the newer ones must be on the disk: then no power cut leaves an object in none. Packs with a `.keep` stay, and so does what
 * cannot be read.
 */
export async function dropRedundantPacks(
  fs: Fs,
  gitdir: string,
  older: readonly string[],
  newer: readonly string[],
): Promise<void> {
  const folder = `${gitdir}/objects/pack`
  const cache = new PackCache()
  const open = (name: string): PackIndex => new PackIndex(fs, cache, `${folder}/${name}.idx`)
  try {
    const held = await ifReadable(() => newer.map(open))
    for (const name of held ? older : []) {
      const isRedundant = await ifReadable(() => areAllIn(open(name), held ?? []))
      if (isRedundant && !fs.stat(`${folder}/${name}.keep`)) await removePack(fs, folder, name)
    }
  } finally {
    cache.close()
  }
}

/** Undefined if an index is damaged, or has been rolled up meanwhile. */
async function ifReadable<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Vanished || error instanceof Unreadable) return undefined
    throw error
  }
}

async function areAllIn(pack: PackIndex, held: readonly PackIndex[]): Promise<boolean> {
  let looked = 0
  for (const oid of pack.oids()) {
    if (!held.some((index) => index.find(oid) !== undefined)) return false
    if (++looked % BREATH === 0) await nextTurn()
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
