import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid, parseTag } from '../../git/objects/object.ts'
import type { RefSnapshot } from '../../git/refs/ref-store.ts'
import type { Repository } from '../../git/repository.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import {
  type ArchivedRecord,
  type ArtifactRecord,
  type ArtifactState,
  META_REF,
  readArtifactState,
  type VariantRecord,
} from './artifact-record.ts'
import { Chains } from '../revisions/first-parent-chains.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits, variantUuid } from '../ids.ts'
import { claimDate, slugProblem } from '../slugs/slug.ts'
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
  /** Since when each of them is one: what a slug means that several artifacts have is decided by it (decision 40). */
  readonly tagsSince: ReadonlyMap<string, string>
  /** Whether only this process knows since when some branch or tag is there: plain git made it. See recordClaims. */
  readonly isUnrecorded: boolean
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
  /** Since when the slug is this variant's, like `tagsSince`. */
  readonly since: string
}

/** What was last known of an artifact's branches and tags: since when each was there. */
export interface SeenNames extends Pick<ArtifactView, 'id' | 'isUnrecorded'> {
  readonly names: {
    readonly variants: Iterable<readonly [slug: string, since: string]>
    readonly tags: Iterable<readonly [slug: string, since: string]>
  }
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/**
 * Derives the view from the repository as these refs of it say. `previous` saves work; it, or else `seen`, says which branches and tags are
 * new. Without either the result differs only in since when those count that plain git made. Refuses with `damaged_repository` what cannot be
 * served, saying why.
 */
export async function viewArtifact(
  family: Family,
  slug: string,
  repository: Repository,
  refs: RefSnapshot,
  previous?: ArtifactView,
  seen?: SeenNames,
): Promise<ArtifactView> {
  const metaCommit = refs.refs.get(META_REF)
  if (metaCommit === undefined) throw notAdopted(repository)
  const isSameState = previous?.metaCommit === metaCommit
  const state = isSameState ? previous.source.state : await readArtifactState(repository.objects, metaCommit)
  const last = previous ?? seen
  // Another artifact may have been put in its place.
  const before = last?.id === state.artifact.id ? last : undefined
  const wasUnrecorded = state.tags === undefined && before?.isUnrecorded === true
  const dates: ClaimDates = { state, before, isUnrecorded: wasUnrecorded }
  const variants = await viewVariants(repository, refs, state, dates, previous)
  const tags = await viewTags(repository, refs, dates, previous)
  const { isUnrecorded } = dates
  return composeView({ family, slug, repository, refs, metaCommit, state, variants, ...tags, isUnrecorded })
}

function notAdopted({ path }: Repository): Refusal {
  return new Refusal(
    'damaged_repository',
    `${path} has no ${META_REF}, so it is no artifact of this registry yet; it waits to be adopted.`,
  )
}

/** By what it is told since when branches and tags count: as recorded, else as seen before, else from now on; in what an earlier version left, as git says. */
interface ClaimDates {
  readonly state: ArtifactState
  /** The same artifact as it was seen before, and the dates of then. */
  readonly before: SeenNames | ArtifactView | undefined
  seen?: ReturnType<typeof datesOf>
  /** Whether some date stands nowhere but here. */
  isUnrecorded: boolean
}

function sinceOfVariant(dates: ClaimDates, slug: string, record: VariantRecord): string {
  if (dates.state.variants.has(slug)) return claimDate(record.claimed_at ?? record.created_at)
  return sinceOfRef(dates, 'variants', slug) ?? claimDate(record.created_at)
}

/** Undefined where the commit's date counts. */
function sinceOfTag(dates: ClaimDates, slug: string): string | undefined {
  const recorded = dates.state.tags?.get(slug)
  return recorded === undefined ? sinceOfRef(dates, 'tags', slug) : claimDate(recorded)
}

/** Of a branch or tag without a record. */
function sinceOfRef(dates: ClaimDates, kind: 'variants' | 'tags', slug: string): string | undefined {
  const { before, state } = dates
  const isRecorded = state.tags !== undefined
  const since = before && (dates.seen ??= datesOf(before))[kind].get(slug)
  if (isRecorded || (before && since === undefined)) dates.isUnrecorded = true
  return since ?? (isRecorded || before ? new Date().toISOString() : undefined)
}

function datesOf(
  seen: SeenNames | ArtifactView,
): Readonly<Record<'variants' | 'tags', ReadonlyMap<string, string>>> {
  if ('names' in seen) return { variants: new Map(seen.names.variants), tags: new Map(seen.names.tags) }
  return { variants: new Map(seen.variants.map(({ slug, since }) => [slug, since])), tags: seen.tagsSince }
}

/** What a view is made of. */
export interface ViewParts extends Pick<
  ArtifactView,
  'family' | 'slug' | 'repository' | 'metaCommit' | 'variants' | 'tags' | 'tagsSince' | 'isUnrecorded'
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

/** The variants that have these records, by slug, in order of creation; `since` has the dates that are in no record. */
export function variantsOf(
  recorded: Iterable<readonly [slug: string, record: VariantRecord]>,
  refs: RefSnapshot,
  artifactId: string,
  since: ReadonlyMap<string, string>,
): readonly VariantView[] {
  const digits = repositoryDigits(artifactId)
  const variants = Array.from(recorded, ([slug, record]): VariantView => {
    const head = refs.refs.get(`${HEADS}${slug}`)
    const date = since.get(slug) ?? claimDate(record.claimed_at ?? record.created_at)
    return { slug, id: variantUuid(slug, digits), head, record, since: date }
  })
  return variants.sort(byCreation)
}

/** The variant of this exact slug. */
export function findVariant(view: ArtifactView, slug: string): VariantView | undefined {
  return view.variants.find((variant) => variant.slug === slug)
}

/** Whether the variant is to be made by its first revision. */
export function isPending({
  artifact,
  variant,
}: {
  readonly artifact: ArtifactView
  readonly variant: VariantView
}): boolean {
  return findVariant(artifact, variant.slug) === undefined
}

async function viewVariants(
  repository: Repository,
  refs: RefSnapshot,
  state: ArtifactState,
  dates: ClaimDates,
  previous: ArtifactView | undefined,
): Promise<readonly VariantView[]> {
  const digits = repositoryDigits(state.artifact.id)
  const known = new Map(previous?.variants.map((variant) => [variant.slug, variant]))
  const slice = new TimeSlice()
  const variants: VariantView[] = []
  let chains: Chains | undefined
  for (const slug of variantSlugs(refs, state)) {
    const head = refs.refs.get(`${HEADS}${slug}`)
    const before = known.get(slug)
    let record = state.variants.get(slug) ?? (before?.head === head ? before?.record : undefined)
    if (!record) {
      chains ??= await Chains.of(repository.history, headsIn(refs), slice)
      record = await recordOfPushed(repository, slug, head, chains)
    }
    const since = sinceOfVariant(dates, slug, record)
    if (before && before.head === head && before.record === record && before.since === since)
      variants.push(before)
    else variants.push({ slug, id: variantUuid(slug, digits), head, record, since })
    if (slice.isOver) await slice.rest()
  }
  return variants.sort(byCreation)
}

/** Those that have a record, and those that git brought. */
function variantSlugs(refs: RefSnapshot, state: ArtifactState): ReadonlySet<string> {
  const slugs = new Set(state.variants.keys())
  for (const name of refs.refs.keys()) {
    const slug = name.startsWith(HEADS) ? name.slice(HEADS.length) : undefined
    if (slug !== undefined && !slugs.has(slug) && slugProblem(slug) === undefined) slugs.add(slug)
  }
  return slugs
}

function headsIn({ refs }: RefSnapshot): ReadonlySet<Oid> {
  return new Set([...refs].flatMap(([name, oid]) => (name.startsWith(HEADS) ? oid : [])))
}

/**
 * A branch that git brought has no record; it counts as created when the oldest commit that is its own (on no branch that
 * has a record) was made. That commit does not change while the branch only grows.
 */
async function recordOfPushed(
  { history, objects }: Repository,
  slug: string,
  head: Oid | undefined,
  chains: Chains,
): Promise<VariantRecord> {
  if (head === undefined) throw new Error(`variant ${slug} has neither a record nor a branch`)
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
  dates: ClaimDates,
  previous: ArtifactView | undefined,
): Promise<Pick<ArtifactView, 'tags' | 'tagsSince'>> {
  const tags = new Map<string, Oid>()
  const tagsSince = new Map<string, string>()
  const slice = new TimeSlice()
  for (const [name, oid] of refs.refs) {
    if (!name.startsWith(TAGS)) continue
    const slug = name.slice(TAGS.length)
    const commit = knownTag(previous, name, slug, oid) ?? (await peel(repository, oid, name))
    if (slice.isOver) await slice.rest()
    if (!commit) continue
    tags.set(slug, commit.oid)
    tagsSince.set(slug, sinceOfTag(dates, slug) ?? commit.date())
  }
  return tags.size > 0 ? { tags, tagsSince } : { tags: NO_TAGS, tagsSince: NO_TAGS }
}

function knownTag(
  previous: ArtifactView | undefined,
  name: string,
  slug: string,
  oid: Oid,
): TaggedCommit | undefined {
  const known = previous?.source.refs.refs.get(name) === oid ? previous.tags.get(slug) : undefined
  return known === undefined ? undefined : { oid: known, date: () => previous?.tagsSince.get(slug) ?? '' }
}

/** What a tag names, and when that was made. */
interface TaggedCommit {
  readonly oid: Oid
  readonly date: () => string
}

/** One for all: of very many artifacts most have no tag. */
const NO_TAGS: ReadonlyMap<string, string> = new Map()

/** The commit a tag names, through annotated tags; undefined if it names a tree or blob. Refuses one that names nothing. */
async function peel({ objects, path }: Repository, oid: Oid, ref: string): Promise<TaggedCommit | undefined> {
  let at = oid
  for (;;) {
    const object = await objects.read(at)
    if (!object) {
      throw new Refusal(
        'damaged_repository',
        `${ref} of ${path} names ${at}, which is missing. Fetch it from a clone, or remove the tag with git.`,
      )
    }
    if (object.kind === 'commit') {
      const { bytes } = object
      return { oid: at, date: () => new Date(parseCommit(bytes).committer.seconds * 1000).toISOString() }
    }
    if (object.kind !== 'tag') return undefined
    at = parseTag(object.bytes).object
  }
}
