import { foldSlug } from './slugs.ts'

/** `numbered`: what stands before `-<number>` in a chosen revision slug, which a variant of that slug would come to own. */
export type SlugLevel = 'artifact' | 'variant' | 'tag' | 'numbered'

/** Which things have which slug: per level and family folder, compared without case; one slug may have several. */
export class SlugTable<T extends object> {
  readonly #owners = new Map<string, Set<T>>()
  readonly #keys = new Map<T, string[]>()

  add(level: SlugLevel, folder: string, slug: string, owner: T): void {
    const key = keyOf(level, folder, slug)
    let owners = this.#owners.get(key)
    if (!owners) this.#owners.set(key, (owners = new Set()))
    owners.add(owner)
    const keys = this.#keys.get(owner)
    if (keys) keys.push(key)
    else this.#keys.set(owner, [key])
  }

  /** Forgets every slug of the owner. */
  remove(owner: T): void {
    for (const key of this.#keys.get(owner) ?? []) {
      const owners = this.#owners.get(key)
      owners?.delete(owner)
      if (owners?.size === 0) this.#owners.delete(key)
    }
    this.#keys.delete(owner)
  }

  has(level: SlugLevel, folder: string, slug: string): boolean {
    return this.#owners.has(keyOf(level, folder, slug))
  }

  get(level: SlugLevel, folder: string, slug: string): T[] {
    return [...(this.#owners.get(keyOf(level, folder, slug)) ?? [])]
  }
}

function keyOf(level: SlugLevel, folder: string, slug: string): string {
  return `${level}:${folder}:${foldSlug(slug)}`
}
