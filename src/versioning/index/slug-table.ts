import { nearNames } from '../../suggestions/near-names.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { foldSlug, numberedBase } from '../slugs/slug.ts'
import type { ArtifactNames, IndexEntry } from './index-entry.ts'

/** `numbered`: what stands before `-<number>` in a chosen revision slug, which a variant of that slug would come to own. */
export type SlugLevel = 'artifact' | 'variant' | 'tag' | 'numbered'

/** An artifact, and a slug of it in lower case. */
export type NearSlug = readonly [artifact: ArtifactView, slug: string]

/** Which artifacts have which slugs: per level and family, compared without case; one slug may have several. */
export class SlugTable {
  /** By level and folder, then by slug. Most slugs have one owner, and a set for each would be a good part of the index. */
  readonly #tables = new Map<string, Map<string, IndexEntry | Set<IndexEntry>>>()

  /** Takes in every slug of the entry's view. */
  add(entry: IndexEntry): void {
    for (const [level, slug] of slugsOf(entry.names)) {
      const table = this.#tableOf(level, entry.family)
      const folded = foldSlug(slug)
      const owners = table.get(folded)
      if (owners instanceof Set) owners.add(entry)
      else if (owners === undefined || owners === entry) table.set(folded, entry)
      else table.set(folded, new Set([owners, entry]))
    }
  }

  /** Forgets every slug of the entry's view: the one it was added with. */
  remove(entry: IndexEntry): void {
    for (const [level, slug] of slugsOf(entry.names)) {
      const table = this.#tableOf(level, entry.family)
      const folded = foldSlug(slug)
      const owners = table.get(folded)
      if (owners instanceof Set) owners.delete(entry)
      if (owners === entry || (owners instanceof Set && owners.size === 0)) table.delete(folded)
    }
  }

  has(level: SlugLevel, family: Family, slug: string): boolean {
    return this.#tableOf(level, family).has(foldSlug(slug))
  }

  get(level: SlugLevel, family: Family, slug: string): IndexEntry[] {
    const owners = this.#tableOf(level, family).get(foldSlug(slug))
    if (owners === undefined) return []
    return owners instanceof Set ? [...owners] : [owners]
  }

  /** The few artifacts whose slugs are nearest to one, each with that slug in lower case; see `nearNames`. */
  async near(level: SlugLevel, family: Family, slug: string): Promise<readonly NearSlug[]> {
    const found = await nearNames(foldSlug(slug), this.#entries(level, family))
    return (found ?? []).map(([{ view }, folded]) => [view, folded])
  }

  /** Every slug of a level in lower case, beside it one that has it. */
  *#entries(level: SlugLevel, family: Family): Generator<readonly [string, readonly [IndexEntry, string]]> {
    for (const [slug, owners] of this.#tableOf(level, family)) {
      const [owner] = owners instanceof Set ? owners : [owners]
      if (owner) yield [slug, [owner, slug]]
    }
  }

  #tableOf(level: SlugLevel, { folder }: Family): Map<string, IndexEntry | Set<IndexEntry>> {
    const key = `${level}:${folder}`
    let table = this.#tables.get(key)
    if (!table) this.#tables.set(key, (table = new Map()))
    return table
  }
}

/** Every slug that an artifact has or keeps others from having. */
export function* slugsOf({ slug, variants, tags }: ArtifactNames): Generator<[SlugLevel, string]> {
  yield ['artifact', slug]
  for (const variant of variants) yield ['variant', variant]
  for (const tag of tags) {
    yield ['tag', tag]
    const base = numberedBase(tag)
    if (base !== undefined) yield ['numbered', base]
  }
}
