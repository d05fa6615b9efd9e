import type { Fs } from './fs.ts'
import type { Oid } from './object.ts'
import type { PackCache } from './pack-cache.ts'
import { PackIndex } from './pack-index.ts'
import type { JoinablePack } from './pack-writer.ts'
import { joinPacks } from './pack-writer.ts'
import { stageEncodedPack } from './stage-pack.ts'

/** So many packs written make it worth looking whether they should become one. */
const OFTEN = 16
/** A pack larger than this is left to git's own repacking. */
const LARGEST = 4 * 1024 * 1024

/**
 * Keeps the packs of a repository few. Each write adds a small pack; every sixteenth time, sixteen packs of about one size
 * become one, so a history of ten thousand commits lies in some thirty packs. It happens behind the writers' backs: an
 * object is always in some pack, the new one being on the disk before the old ones go. Packs with companions (`.keep`,
 * `.bitmap`, `.mtimes` …), large ones, and repositories with a multi-pack index are left to git's own repacking.
 */
export class PackRoller {
  readonly #fs: Fs
  readonly #gitdir: string
  readonly #cache: PackCache
  /** One short of a look, so that a process that starts with many packs notices soon. */
  #written = OFTEN - 1
  #rolling = false

  constructor(fs: Fs, gitdir: string, cache: PackCache) {
    this.#fs = fs
    this.#gitdir = gitdir
    this.#cache = cache
  }

  /** To be told of every pack that was written; returns at once. */
  packWritten(): void {
    if (++this.#written < OFTEN || this.#rolling) return
    this.#written = 0
    this.#rolling = true
    this.rollUp()
      // Nothing is lost: the packs stay as they are until the next time.
      .catch(() => undefined)
      .finally(() => {
        this.#rolling = false
      })
  }

  /** Makes one pack of every sixteen or more of a size, until no size has so many. */
  async rollUp(): Promise<void> {
    for (;;) {
      const chosen = packsToRollUp(this.#smallPacks())
      if (chosen.length === 0) return
      await this.#makeOne(chosen)
    }
  }

  async #makeOne(chosen: readonly SmallPack[]): Promise<void> {
    const joined = joinPacks(chosen.map((pack) => this.#joinable(pack)))
    if (!joined) throw new Error(`a pack of ${this.#gitdir} cannot be joined with others as it is`)
    const pack = await stageEncodedPack(this.#fs, this.#gitdir, joined, { synced: true })
    pack.publish()
    await pack.syncNames()
    // What it holds is needed by refs already: it may be repacked like any other.
    pack.release()
    for (const { name } of chosen) {
      if (name === pack.name) continue
      // The index first: what has no index is no pack to anyone.
      this.#fs.remove(`${this.#folder}/${name}.idx`)
      this.#fs.remove(`${this.#folder}/${name}.pack`)
    }
  }

  #joinable({ name, index }: SmallPack): JoinablePack {
    const pack = this.#fs.readFile(`${this.#folder}/${name}.pack`)
    if (!pack) throw new Error(`${name} vanished while packs were rolled up`)
    const offsets = new Map<Oid, number>()
    for (const oid of index.oids()) offsets.set(oid, index.find(oid) ?? 0)
    return { pack, offsets }
  }

  get #folder(): string {
    return `${this.#gitdir}/objects/pack`
  }

  /** The packs that are ours to roll up. */
  #smallPacks(): SmallPack[] {
    const files = this.#fs.readDir(this.#folder) ?? []
    if (files.includes('multi-pack-index')) return []
    const companions = new Map<string, number>()
    for (const file of files) {
      const name = file.slice(0, file.lastIndexOf('.'))
      companions.set(name, (companions.get(name) ?? 0) + 1)
    }
    const packs: SmallPack[] = []
    for (const file of files) {
      const name = file.slice(0, -'.idx'.length)
      if (!/^pack-[0-9a-f]{40}\.idx$/.test(file) || companions.get(name) !== 2) continue
      const size = this.#fs.stat(`${this.#folder}/${name}.pack`)?.size
      if (size === undefined || size > LARGEST) continue
      const index = new PackIndex(this.#fs, this.#cache, `${this.#folder}/${file}`)
      packs.push({ name, index, count: index.count })
    }
    return packs
  }
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
export function packsToRollUp<T extends { readonly count: number }>(packs: readonly T[]): readonly T[] {
  const classes = new Map<number, T[]>()
  for (const pack of packs) {
    const size = Math.floor(Math.log(Math.max(pack.count, 1)) / Math.log(OFTEN))
    classes.set(size, [...(classes.get(size) ?? []), pack])
  }
  const full = [...classes].filter(([, members]) => members.length >= OFTEN)
  return full.sort(([a], [b]) => a - b)[0]?.[1] ?? []
}
