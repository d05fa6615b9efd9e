import { Refusal } from '../../errors.ts'
import { parseCommit } from '../../git/objects/commit.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { RefSnapshot } from '../../git/refs/ref-store.ts'
import type { Repository } from '../../git/repository.ts'
import { parseTag } from '../../git/objects/tag.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { ArtifactState } from './artifact-record.ts'
import { META_REF, readArtifactState } from './artifact-record.ts'
import { Chains } from '../revisions/first-parent-chains.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits, variantUuid } from '../ids.ts'
import type { ArchivedRecord, ArtifactRecord, VariantRecord } from './records.ts'
import { slugProblem } from '../slugs/slug.ts'
import { readBytes } from '../family/tree-files.ts'

/**
 * An artifact as its repository stood at one moment: everything the registry derives from the refs and the meta commit.
 * It is immutable; whatever moves in the repository makes a new view, so what was computed from a view stays true of it.
 */
export interface ArtifactView {
  readonly family: Family
  readonly repository: Repository
  readonly slug: string
  readonly id: string
  /** The 12 hex digits that end every id of this artifact. */
  readonly digits: string
  readonly record: ArtifactRecord
  readonly metaCommit: Oid
  /** In order of creation. */
  readonly variants: readonly VariantView[]
  /** The variant HEAD names, else the first created; undefined while there is none. */
  readonly defaultVariant: VariantView | undefined
  /** Chosen revision slugs to commits (annotated tags peeled). */
  readonly tags: ReadonlyMap<string, Oid>
  /** Revisions archived one by one, by id. */
  readonly archived: ReadonlyMap<string, ArchivedRecord>
  /** What the view was made of, to tell whether it is still current and to make the next one from. */
  readonly source: { readonly refs: RefSnapshot; readonly state: ArtifactState }
}

/** What answers show of an artifact: lists have no more of it. */
export type RecordedArtifact = Pick<ArtifactView, 'family' | 'id' | 'slug' | 'record'>

export interface VariantView {
  readonly slug: string
  readonly id: string
  /** The branch's commit; undefined while there is no revision. */
  readonly head: Oid | undefined
  readonly record: VariantRecord
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/**
 * Derives the view from the repository as these refs of it say. `previous` only saves work: the result is the same without it. Refuses with
 * `damaged_repository` what cannot be served, saying why.
 */
export async function viewArtifact(
  family: Family,
  slug: string,
  repository: Repository,
  refs: RefSnapshot,
  previous?: ArtifactView,
): Promise<ArtifactView> {
  const metaCommit = refs.refs.get(META_REF)
  if (metaCommit === undefined) {
    throw new Refusal(
      'damaged_repository',
      `${repository.path} has no ${META_REF}, so it is no artifact of this registry yet; it waits to be adopted.`,
    )
  }
  const state =
    previous?.metaCommit === metaCommit
      ? previous.source.state
      : await readArtifactState(repository.objects, metaCommit)
  const digits = repositoryDigits(state.artifact.id)
  const variants = await viewVariants(repository, refs, state, digits, previous)
  const tags = await viewTags(repository, refs, previous)
  return composeView({ family, slug, repository, refs, metaCommit, state, variants, tags })
}

/** What a view is made of. */
export interface ViewParts extends Pick<
  ArtifactView,
  'family' | 'slug' | 'repository' | 'metaCommit' | 'variants' | 'tags'
> {
  readonly refs: RefSnapshot
  readonly state: ArtifactState
}

/** The view with what follows from its parts. */
export function composeView({ refs, state, ...parts }: ViewParts): ArtifactView {
  const { id } = state.artifact
  return {
    ...parts,
    id,
    digits: repositoryDigits(id),
    record: state.artifact,
    defaultVariant:
      parts.variants.find((variant) => `${HEADS}${variant.slug}` === refs.head) ?? parts.variants[0],
    archived: state.archived,
    source: { refs, state },
  }
}

/** The variants that have these records, by slug, in order of creation. */
export function variantsOf(
  recorded: Iterable<readonly [slug: string, record: VariantRecord]>,
  refs: RefSnapshot,
  artifactId: string,
): readonly VariantView[] {
  const digits = repositoryDigits(artifactId)
  const variants = Array.from(recorded, ([slug, record]) => {
    return { slug, id: variantUuid(slug, digits), head: refs.refs.get(`${HEADS}${slug}`), record }
  })
  return variants.sort(byCreation)
}

/** The variant of this exact slug. */
export function findVariant(view: ArtifactView, slug: string): VariantView | undefined {
  return view.variants.find((variant) => variant.slug === slug)
}

async function viewVariants(
  repository: Repository,
  refs: RefSnapshot,
  state: ArtifactState,
  digits: string,
  previous: ArtifactView | undefined,
): Promise<readonly VariantView[]> {
  const slugs = new Set(state.variants.keys())
  for (const name of refs.refs.keys()) {
    const slug = name.startsWith(HEADS) ? name.slice(HEADS.length) : undefined
    if (slug !== undefined && slugProblem(slug) === undefined) slugs.add(slug)
  }
  const slice = new TimeSlice()
  const known = new Map(previous?.variants.map((variant) => [variant.slug, variant]))
  const heads = new Set([...refs.refs].flatMap(([name, oid]) => (name.startsWith(HEADS) ? oid : [])))
  let chains: Promise<Chains> | undefined
  const chainsOf = (): Promise<Chains> => (chains ??= Chains.of(repository.history, heads, slice))
  const variants: VariantView[] = []
  await slice.each(slugs, (slug) => {
    const head = refs.refs.get(`${HEADS}${slug}`)
    const before = known.get(slug)
    const record = state.variants.get(slug) ?? (before?.head === head ? before?.record : undefined)
    if (record) return take(slug, head, record, before)
    return recordOfPushed(repository, slug, head, chainsOf).then((made) => take(slug, head, made, before))
  })
  return variants.sort(byCreation)

  function take(
    slug: string,
    head: Oid | undefined,
    record: VariantRecord,
    before: VariantView | undefined,
  ): void {
    if (before && before.head === head && before.record === record) variants.push(before)
    else variants.push({ slug, id: variantUuid(slug, digits), head, record })
  }
}

/**
 * A branch that git brought has no record; it counts as created when the oldest commit that is its own (on no branch that
 * has a record) was made. That commit does not change while the branch only grows.
 */
async function recordOfPushed(
  { history, objects }: Repository,
  slug: string,
  head: Oid | undefined,
  chainsOf: () => Promise<Chains>,
): Promise<VariantRecord> {
  if (head === undefined) throw new Error(`variant ${slug} has neither a record nor a branch`)
  const chains = await chainsOf()
  let own = await history.node(head)
  while (own.parent && (await chains.isOwn(own.parent))) own = own.parent
  const commit = parseCommit(await readBytes(objects, own.oid, 'commit'))
  return {
    name: slug,
    created_at: new Date(commit.committer.seconds * 1000).toISOString(),
    created_by_id: `${commit.author.name} <${commit.author.email}>`,
  }
}

function byCreation(a: VariantView, b: VariantView): number {
  return compare(a.record.created_at, b.record.created_at) || compare(a.slug, b.slug)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function viewTags(
  repository: Repository,
  refs: RefSnapshot,
  previous: ArtifactView | undefined,
): Promise<ReadonlyMap<string, Oid>> {
  let tags: Map<string, Oid> | undefined
  await new TimeSlice().each(refs.refs, ([name, oid]) => {
    if (!name.startsWith(TAGS)) return undefined
    const slug = name.slice(TAGS.length)
    const take = (commit: Oid | undefined): void => {
      if (commit !== undefined) (tags ??= new Map<string, Oid>()).set(slug, commit)
    }
    const known = previous?.source.refs.refs.get(name) === oid ? previous.tags.get(slug) : undefined
    return known === undefined ? peel(repository, oid, name).then(take) : take(known)
  })
  return tags ?? NO_TAGS
}

/** One for all: of very many artifacts most have no tag. */
const NO_TAGS: ReadonlyMap<string, Oid> = new Map()

/** The commit a tag names, through annotated tags; undefined if it names a tree or blob. Refuses one that names nothing. */
async function peel({ objects, path }: Repository, oid: Oid, ref: string): Promise<Oid | undefined> {
  let at = oid
  for (;;) {
    const object = await objects.read(at)
    if (!object) {
      throw new Refusal(
        'damaged_repository',
        `${ref} of ${path} names ${at}, which is missing. Fetch it from a clone, or remove the tag with git.`,
      )
    }
    if (object.kind !== 'tag') return object.kind === 'commit' ? at : undefined
    at = parseTag(object.bytes).object
  }
}
