import type { Transaction } from '../../git/transactions/transaction.ts'
import type { ArtifactState } from '../artifacts/artifact-record.ts'
import { foldSlug, numberedBase } from './slug.ts'

/** What keeps a slug from being made in an artifact: what has it, or what it would read as a version of. */
export interface Rival {
  readonly is: 'variant' | 'tag' | 'version'
  /** The variant's slug, or the tag's. */
  readonly name: string
}

/**
 * The slugs of one artifact's variants and tags, compared without case. They are unique within the artifact only: another one may have the
 * same (decision 40).
 */
export class NamesInUse {
  readonly #variants = new Map<string, string>()
  readonly #tags = new Map<string, string>()
  /** By what stands before `-<number>` in a tag. */
  readonly #numbered = new Map<string, string>()

  /** Those that are there in a transaction. */
  static of(state: ArtifactState, transaction: Transaction): NamesInUse {
    const names = new NamesInUse()
    for (const slug of state.variants.keys()) names.addVariant(slug)
    for (const ref of transaction.refs(HEADS).keys()) names.addVariant(ref.slice(HEADS.length))
    for (const ref of transaction.refs(TAGS).keys()) names.addTag(ref.slice(TAGS.length))
    return names
  }

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

  /** What a new variant of this slug would clash with. */
  rivalOfVariant(slug: string): Rival | undefined {
    const variant = this.#variants.get(foldSlug(slug))
    if (variant !== undefined) return { is: 'variant', name: variant }
    const tag = this.#numbered.get(foldSlug(slug))
    return tag === undefined ? this.#readAs(slug) : { is: 'tag', name: tag }
  }

  /** What a new tag would clash with. */
  rivalOfTag(slug: string): Rival | undefined {
    const tag = this.#tags.get(foldSlug(slug))
    return tag === undefined ? this.#readAs(slug) : { is: 'tag', name: tag }
  }

  #readAs(slug: string): Rival | undefined {
    const base = numberedBase(slug)
    const variant = base === undefined ? undefined : this.#variants.get(foldSlug(base))
    return variant === undefined ? undefined : { is: 'version', name: variant }
  }
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
