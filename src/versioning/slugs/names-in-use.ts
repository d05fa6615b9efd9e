import { RefRefused } from '../push/ref-command.ts'
import { foldSlug, numberedBase } from './slug.ts'

/**
 * The slugs of one artifact's variants and tags, compared without case (ruling 3.3). Within the repository only: another artifact may
 * have a variant of the same slug (ruling 3.4a).
 */
export class NamesInUse {
  readonly #variants = new Map<string, string>()
  readonly #tags = new Map<string, string>()
  /** By what stands before `-<number>` in a tag. */
  readonly #numbered = new Map<string, string>()

  get hasVariant(): boolean {
    return this.#variants.size > 0
  }

  addVariant(slug: string): void {
    this.#variants.set(foldSlug(slug), slug)
  }

  addTag(slug: string): void {
    this.#tags.set(foldSlug(slug), slug)
    const base = numberedBase(slug)
    if (base !== undefined) this.#numbered.set(foldSlug(base), slug)
  }

  /** Refuses the slug of a branch that is new, unless it is a variant's that has no revision yet. */
  assertVariantFree(slug: string): void {
    const rival = this.#variants.get(foldSlug(slug))
    if (rival !== undefined && rival !== slug) {
      throw taken(`The branch "${slug}" differs from the variant "${rival}" in case only.`)
    }
    const numbered = this.#numbered.get(foldSlug(slug))
    if (numbered !== undefined) {
      throw taken(`Revisions of the branch "${slug}" would be named as the tag "${numbered}" is.`)
    }
  }

  /** Refuses the slug of a tag that is new, also where the tag would read as a revision of a variant (ruling 3.4). */
  assertTagFree(slug: string): void {
    const rival = this.#tags.get(foldSlug(slug))
    if (rival !== undefined) throw taken(`The tag "${slug}" differs from the tag "${rival}" in case only.`)
    const base = numberedBase(slug)
    const variant = base === undefined ? undefined : this.#variants.get(foldSlug(base))
    if (variant !== undefined)
      throw taken(`The tag "${slug}" reads as a version of the variant "${variant}".`)
  }
}

function taken(sentence: string): RefRefused {
  return new RefRefused('slug taken', `${sentence} Choose another name.`)
}
