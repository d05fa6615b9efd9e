import { Refusal } from '../../errors.ts'
import type { Transaction } from '../../git/transactions.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import type { ArtifactState } from '../artifacts/artifact-record.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { helpWithTaken } from '../store/not-found.ts'
import type { Registry } from '../store/registry.ts'
import { assertSlug, foldSlug, numberedBase } from './slug.ts'
import { inTrash } from '../artifacts/trash.ts'

/** Refuses an artifact's slug that is malformed, or that another artifact of its family has, ignoring case (interface 4.9). */
export async function assertArtifactSlugFree(
  registry: Registry,
  family: Family,
  slug: string,
  loc: readonly (string | number)[],
): Promise<void> {
  assertSlug(slug, loc)
  const { index, trash } = registry
  if (await index.isTaken('artifact', family, slug)) {
    if (registry.limit && ![...index.alike('artifact', family, slug)].length) throw takenUnseen(slug)
    throw new HelpfulRefusal('slug_taken', {
      family: family.name,
      sentenceOf: () => `The artifact slug "${slug}" is taken in this project. Choose another one.`,
      data: { conflict: { slug } },
      help: helpWithTaken(
        () =>
          [...index.alike('artifact', family, slug)].some(
            ({ entry }) => entry.record.deleted_at !== undefined,
          ),
        () => freeArtifactSlug(registry, family, slug),
      ),
    })
  }
  const holder = await trash.holderOf('artifact', family, slug)
  if (!holder && (await registry.whole.trash.holderOf('artifact', family, slug))) throw takenUnseen(slug)
  if (holder) {
    const { sentence, when } = inTrash(holder)
    const said = `The slug "${slug}" is taken in this project: ${sentence} Choose another one.`
    throw new Refusal('slug_taken', said, { conflict: { slug }, ...when })
  }
  registry.whole.trash.assertFolderFree(family, slug)
}

/** For a key limited to folders: what has the slug lies elsewhere, and nothing is said of it (interface 18.8). */
function takenUnseen(slug: string): Refusal {
  return new Refusal(
    'slug_taken',
    `The artifact slug "${slug}" is taken in this project. Choose another one.`,
    {
      conflict: { slug },
    },
  )
}

const MAX_SLUGS_TRIED = 1000

/** The first free of `base`, `base_2`, `base_3` … (`-2` would mean version 2 of the first); undefined if very many are taken. */
export async function freeArtifactSlug(
  registry: Registry,
  family: Family,
  base: string,
): Promise<string | undefined> {
  const { index, store } = registry
  const { trash } = registry.whole
  const trashed = new Set(store.trashedSlugs(family.folder).map((it) => it.toLowerCase()))
  for (const slug of numbered(base)) {
    const isTaken =
      (await index.isTaken('artifact', family, slug)) ||
      trashed.has(slug.toLowerCase()) ||
      (await trash.holderOf('artifact', family, slug)) !== undefined
    if (!isTaken) return slug
  }
  return undefined
}

/**
 * The slug of a default variant: the first of `base`, `base_2` … that no variant has and that does not look like a version of one, so that
 * the slug means this variant. If very many are taken, it is `base`, which is then shadowed.
 */
export async function freeVariantSlug(registry: Registry, family: Family, base: string): Promise<string> {
  for (const slug of numbered(base)) if (!(await isVariantTaken(registry, family, slug))) return slug
  return base
}

async function isVariantTaken(
  { index, whole: { trash } }: Registry,
  family: Family,
  slug: string,
): Promise<boolean> {
  for (const level of ['variant', 'numbered'] as const) {
    if (await index.isTaken(level, family, slug)) return true
    if (await trash.holderOf(level, family, slug)) return true
  }
  return false
}

function* numbered(base: string): Generator<string> {
  yield base
  for (let number = 2; number <= MAX_SLUGS_TRIED; number++) yield `${base}_${number}`
}

/** Refuses a variant's slug that clashes with others of its artifact. */
export function assertVariantFree(
  { slug: artifact, family }: ArtifactView,
  names: NamesInUse,
  slug: string,
): void {
  const rival = names.rivalOfVariant(slug)
  if (!rival) return
  throw new HelpfulRefusal('slug_taken', {
    family: family.name,
    sentenceOf: () => `${whyNoVariant(artifact, slug, rival)} Choose another one.`,
    data: { conflict: { slug } },
    help: helpWithTaken(
      () => false,
      // `-2` would mean version 2 of the part before it.
      () => [...numbered(slug.replace(/-([0-9]+)$/, '_$1'))].find((it) => !names.rivalOfVariant(it)),
    ),
  })
}

function whyNoVariant(artifact: string, slug: string, { is, name }: Rival): string {
  if (is === 'variant') return `The variant slug "${slug}" is taken in "${artifact}".`
  if (is === 'version') return readsAs(slug, name)
  return `Revisions of a variant "${slug}" would be named "${slug}-<number>", and a revision has the slug "${name}".`
}

/** Refuses a revision's slug that clashes with others of its artifact. */
export function assertTagFree({ slug: artifact }: ArtifactView, names: NamesInUse, slug: string): void {
  const rival = names.rivalOfTag(slug)
  if (!rival) return
  const why =
    rival.is === 'version'
      ? readsAs(slug, rival.name)
      : `The revision slug "${slug}" is taken in "${artifact}".`
  const remedy = rival.is === 'version' ? 'Choose one that does not end in -<number>.' : 'Choose another one.'
  throw new Refusal('slug_taken', `${why} ${remedy}`, { conflict: { slug } })
}

function readsAs(slug: string, variant: string): string {
  return `The slug "${slug}" reads as a version of the variant "${variant}".`
}

/** The name that prevents a slug in an artifact: it has the slug, or the slug would mean a version of it. */
export interface Rival {
  readonly is: 'variant' | 'tag' | 'version'
  /** The variant's slug, or the tag's. */
  readonly name: string
}

/**
 * The slugs of one artifact's variants and tags, ignoring case. They are unique only within the artifact: another one may have the same
 * (decision 40).
 */
export class NamesInUse {
  readonly #variants = new Map<string, string>()
  readonly #tags = new Map<string, string>()
  /** By the part before `-<number>` in a tag. */
  readonly #numbered = new Map<string, string>()

  /** The names in a transaction. */
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

  /** The name that clashes with a new variant of this slug. */
  rivalOfVariant(slug: string): Rival | undefined {
    const variant = this.#variants.get(foldSlug(slug))
    if (variant !== undefined) return { is: 'variant', name: variant }
    const tag = this.#numbered.get(foldSlug(slug))
    return tag === undefined ? this.#readAs(slug) : { is: 'tag', name: tag }
  }

  /** The name that clashes with a new tag. */
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
