import type { Fs } from '../../storage/fs.ts'
import type { PackCache } from './pack-cache.ts'
import { PackReader } from './pack-reader.ts'
import { PackIndex } from './pack-index-reader.ts'

/**
 * A folder that changed no longer than this (milliseconds) before it was listed may have changed again without its time
 * showing it: file systems keep times as coarsely as two seconds.
 */
const RACY = 2100

/** One pack of a repository, by the names of its files. */
export interface ListedPack {
  readonly name: string
  readonly packPath: string
  readonly indexPath: string
}

/** Which packs a repository has, as `objects/pack` was last listed. */
export class PackDirectory {
  readonly #fs: Fs
  readonly #cache: PackCache
  readonly #folder: string
  #packs: ListedPack[] = []
  #modified: number | undefined
  #listedAt = 0

  constructor(fs: Fs, cache: PackCache, gitdir: string) {
    this.#fs = fs
    this.#cache = cache
    this.#folder = `${gitdir}/objects/pack`
  }

  /** The packs known so far, the one that helped last in front; listed once before anything is looked for elsewhere. */
  get packs(): readonly ListedPack[] {
    if (this.#listedAt === 0) this.refresh()
    return this.#packs
  }

  /** Lists the folder anew if it may have changed; true if there is a pack that was not known before. */
  refresh(): boolean {
    const modified = this.#fs.stat(this.#folder)?.modified
    if (modified === this.#modified && (modified ?? 0) < this.#listedAt - RACY) return false
    this.#listedAt = Date.now()
    this.#modified = modified
    const names = new Set(this.#fs.readDir(this.#folder) ?? [])
    const known = new Set(this.#packs.map(({ name }) => name))
    this.#packs = this.#packs.filter(({ name }) => names.has(`${name}.idx`) && names.has(`${name}.pack`))
    const fresh = [...names]
      .filter((file) => /^pack-.*\.idx$/.test(file))
      .map((file) => file.slice(0, -'.idx'.length))
      .filter((name) => !known.has(name) && names.has(`${name}.pack`))
      .map((name) => this.#describe(name))
    this.#packs = [...this.#newestFirst(fresh), ...this.#packs]
    return fresh.length > 0
  }

  /** The opened pack. Throws `PackGone` if its files are gone, `CorruptObject` if its index is damaged. */
  open(listed: ListedPack): PackReader {
    const open = this.#cache.packs.peek(listed.indexPath)
    if (open) return open
    const index = new PackIndex(this.#fs, this.#cache, listed.indexPath)
    const pack = new PackReader(this.#fs, this.#cache, listed.packPath, index)
    this.#cache.packs.set(listed.indexPath, pack)
    return pack
  }

  /** Looks into this pack first from now on. */
  moveToFront(listed: ListedPack): void {
    this.#cache.packs.get(listed.indexPath)
    if (this.#packs[0] === listed) return
    this.#packs = [listed, ...this.#packs.filter((pack) => pack !== listed)]
  }

  /** Forgets a pack that is gone, and that the folder was ever listed. */
  drop(listed: ListedPack): void {
    this.#packs = this.#packs.filter((pack) => pack !== listed)
    this.#modified = undefined
    this.#listedAt = 0
    this.#cache.packs.delete(listed.indexPath)
    this.#cache.handles.delete(listed.indexPath)
    this.#cache.handles.delete(listed.packPath)
  }

  /** What was written last is most often asked for. */
  #newestFirst(packs: ListedPack[]): readonly ListedPack[] {
    if (packs.length < 2) return packs
    return packs
      .map((pack) => ({ pack, modified: this.#fs.stat(pack.packPath)?.modified ?? 0 }))
      .sort((a, b) => b.modified - a.modified)
      .map(({ pack }) => pack)
  }

  #describe(name: string): ListedPack {
    const path = `${this.#folder}/${name}`
    return {
      name,
      packPath: `${path}.pack`,
      indexPath: `${path}.idx`,
    }
  }
}
