import { foldSlug } from './slugs.ts'

/** `numbered`: what stands before `-<number>` in a chosen revision slug, which a variant of that slug would come to own. */
export type SlugLevel = 'artifact' | 'variant' | 'tag' | 'numbered'

/** A slug that a thing has. */
export interface OwnedSlug {
  readonly level: SlugLevel
  readonly slug: string
}

/** Which things have which slug: per level and family folder, compared without case; one slug may have several. */
export class SlugTable<T extends object> {
  /** By level and folder, then by slug; most slugs have one owner, and a set for each would be a good part of the index. */
  readonly #tables = new Map<string, Map<string, T | Set<T>>>()

  add({ level, slug }: OwnedSlug, folder: string, owner: T): void {
    const key = `${level}:${folder}`
    let table = this.#tables.get(key)
    if (!table) this.#tables.set(key, (table = new Map()))
    const folded = foldSlug(slug)
    const owners = table.get(folded)
    if (owners === undefined || owners === owner) table.set(folded, owner)
    else if (owners instanceof Set) owners.add(owner)
    else table.set(folded, new Set([owners, owner]))
  }

  remove({ level, slug }: OwnedSlug, folder: string, owner: T): void {
    const table = this.#tables.get(`${level}:${folder}`)
    const folded = foldSlug(slug)
    const owners = table?.get(folded)
    if (owners instanceof Set) owners.delete(owner)
    if (owners === owner || (owners instanceof Set && owners.size === 0)) table?.delete(folded)
  }

  has(level: SlugLevel, folder: string, slug: string): boolean {
    return this.#tables.get(`${level}:${folder}`)?.has(foldSlug(slug)) ?? false
  }

  get(level: SlugLevel, folder: string, slug: string): T[] {
    const owners = this.#tables.get(`${level}:${folder}`)?.get(foldSlug(slug))
    if (owners === undefined) return []
    return owners instanceof Set ? [...owners] : [owners]
  }
}
