import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid, parseTag } from '../../git/objects.ts'
import type { RefSnapshot } from '../../git/refs.ts'
import type { Repository } from '../../git/store.ts'
import type { Transaction } from '../../git/transactions.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import {
  type ArchivedRecord,
  type ArtifactRecord,
  type ArtifactState,
  META_REF,
  readArtifactState,
  type VariantRecord,
} from './artifact-record.ts'
import { Chains } from '../revisions/first-parent-chains.ts'
import type { RevisionCache } from '../revisions/stored-revision.ts'
import type { Family, PayloadTarget } from '../payload/family.ts'
import { repositoryDigits, variantUuid } from '../store/ids.ts'
import { claimDate, slugProblem } from '../slugs/slug.ts'
import { readBytes } from '../payload/tree-files.ts'

/**
 * An artifact at one moment: everything that the registry derives from its refs and its meta commit. It is immutable. Each change of the
 * repository makes a new view, so results computed from a view stay valid for it.
 */
export interface ArtifactView {
  readonly family: Family
  readonly repository: Repository
  /** The decoded revisions of its family in its project. */
  readonly revisions: RevisionCache
  readonly slug: string
  readonly id: string
  /** The 12 hex digits that end every id of this artifact. */
  readonly digits: string
  readonly record: ArtifactRecord
  readonly metaCommit: Oid
  /** In order of creation. */
  readonly variants: readonly VariantView[]
  /** The variant that HEAD names, else the oldest; undefined if there is none. */
  readonly defaultVariant: VariantView | undefined
  /** Chosen revision slugs to commits (annotated tags peeled). */
  readonly tags: ReadonlyMap<string, Oid>
  /** The date of each of these tags. If several artifacts have a slug, the dates decide which one it means (decision 40). */
  readonly tagsSince: ReadonlyMap<string, string>
  /** Whether the date of a branch or tag is known only to this process, because plain git made it. See recordClaims. */
  readonly isUnrecorded: boolean
  /** The records of the revisions that were archived individually; the key is the revision's id. */
  readonly archived: ReadonlyMap<string, ArchivedRecord>
  /** The whole view, if this is the view of an environment for a key that is limited to folders. */
  readonly whole?: ArtifactView
  /** The refs and records from which the view was made. They show whether the view is current, and the next view is derived from them. */
  readonly source: { readonly refs: RefSnapshot; readonly state: ArtifactState }
}

/** The fields of an artifact that lists show. */
export type RecordedArtifact = Pick<ArtifactView, 'family' | 'id' | 'slug' | 'record'>

export interface VariantView {
  readonly slug: string
  readonly id: string
  /** The branch's commit; undefined while there is no revision. */
  readonly head: Oid | undefined
  readonly record: VariantRecord
  /** The date since when the slug is this variant's, like `tagsSince`. */
  readonly since: string
  /** Whether the variant is made together with its first revision. */
  readonly isPending?: boolean
}

/** The known dates of an artifact's branches and tags, from an earlier look. */
export interface SeenNames extends Pick<ArtifactView, 'id' | 'isUnrecorded'> {
  readonly names: {
    readonly variants: Iterable<readonly [slug: string, since: string]>
    readonly tags: Iterable<readonly [slug: string, since: string]>
  }
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/**
 * Derives the view from the repository and these refs. `previous` saves work. It, or else `seen`, tells which branches and tags are new. Without
 * both, only the dates of branches and tags from plain git differ. Refuses an artifact that cannot be served with `damaged_repository`, and the
 * reason.
 */
export async function viewArtifact(
  revisions: RevisionCache,
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
  // Another artifact may have taken the place of the previous one.
  const before = last?.id === state.artifact.id ? last : undefined
  const digits = repositoryDigits(state.artifact.id)
  const known = new Map(previous?.variants.map((variant) => [variant.slug, variant]))
  const slice = new TimeSlice()
  const variants: VariantView[] = []
  for (const [name, record] of state.variants) {
    const head = refs.refs.get(`${HEADS}${name}`)
    const old = known.get(name)
    if (old?.record !== record)
      variants.push({ slug: name, id: variantUuid(name, digits), head, record, since: recordedSince(record) })
    else variants.push(old.head === head ? old : { ...old, head })
    if (slice.isOver) await slice.rest()
  }
  const isUnrecorded = state.tags === undefined && before?.isUnrecorded === true
  const parts = { revisions, slug, repository, refs, metaCommit, state }
  const work: Viewing = { ...parts, variants, tags: NO_TAGS, before, previous, known, slice, isUnrecorded }
  for (const [name, oid] of refs.refs) {
    if (name.startsWith(TAGS)) await viewTag(work, name, oid)
    else if (name.startsWith(HEADS)) {
      const branch = name.slice(HEADS.length)
      if (!state.variants.has(branch)) await viewPushed(work, branch, oid)
    }
  }
  variants.sort(byCreation)
  return composeView({ ...parts, variants, ...work.tags, isUnrecorded: work.isUnrecorded })
}

function recordedSince({ claimed_at, created_at }: VariantRecord): string {
  return claimDate(claimed_at ?? created_at)
}

/** One empty map for all: in a store with very many artifacts, most have no tag. */
const NO_TAGS: ViewedTags = { tags: new Map(), tagsSince: new Map() }

type ViewedTags = Readonly<Record<'tags' | 'tagsSince', Map<string, string>>>

/** The parts of a view. */
export interface ViewParts extends Pick<
  ArtifactView,
  'revisions' | 'slug' | 'repository' | 'metaCommit' | 'variants' | 'tags' | 'tagsSince' | 'isUnrecorded'
> {
  readonly refs: RefSnapshot
  readonly state: ArtifactState
}

/** The view, with everything that follows from its parts. */
export function composeView({ refs, state, ...parts }: ViewParts): ArtifactView {
  const { id } = state.artifact
  const named = parts.variants.find(({ slug }) => `${HEADS}${slug}` === refs.head)
  return {
    ...parts,
    family: parts.revisions.family,
    id,
    digits: repositoryDigits(id),
    record: state.artifact,
    defaultVariant: named ?? parts.variants[0],
    archived: state.archived,
    source: { refs, state },
  }
}

/** The variants of these records, by slug, in order of creation; `since` has the dates that are not in records. */
export function variantsOf(
  recorded: Iterable<readonly [slug: string, record: VariantRecord]>,
  refs: RefSnapshot,
  artifactId: string,
  since: ReadonlyMap<string, string>,
): readonly VariantView[] {
  const digits = repositoryDigits(artifactId)
  const variants = Array.from(recorded, ([slug, record]): VariantView => {
    const head = refs.refs.get(`${HEADS}${slug}`)
    return {
      slug,
      id: variantUuid(slug, digits),
      head,
      record,
      since: since.get(slug) ?? recordedSince(record),
    }
  })
  return variants.sort(byCreation)
}

/** The variant of this exact slug. */
export function findVariant(view: ArtifactView, slug: string): VariantView | undefined {
  return view.variants.find((variant) => variant.slug === slug)
}

/** The artifact within a transaction. It is read again only if the meta ref moved after the view was made. */
export async function stateNow(artifact: ArtifactView, transaction: Transaction): Promise<ArtifactState> {
  const head = transaction.ref(META_REF)
  if (head === artifact.metaCommit) return artifact.source.state
  if (head === undefined)
    throw new Refusal('artifact_not_found', `"${artifact.slug}" is gone from the store.`)
  return readArtifactState(transaction, head)
}

/** The target for the payload of a revision that a transaction makes. */
export function payloadTarget(
  { id, repository, tags }: ArtifactView,
  transaction: Transaction,
): PayloadTarget {
  const { objects } = repository
  return {
    artifactId: id,
    gitdir: repository.path,
    read: (oid) => transaction.read(oid),
    readMany: (oids, run, enough) => transaction.readMany(oids, run, enough),
    write: (kind, bytes) => transaction.write(kind, bytes),
    adopt: (pack) => transaction.adopt(pack),
    derived: (name) => transaction.cacheFile(name),
    startingWith: (prefix) => objects.startingWith(prefix),
    tips: () => [...tags.values(), ...transaction.refs('refs/heads/').values()],
  }
}

function notAdopted({ path }: Repository): Refusal {
  return new Refusal(
    'damaged_repository',
    `${path} has no ${META_REF}, so it is no artifact of this registry yet; it waits to be adopted.`,
  )
}

/** A view in the making. */
interface Viewing extends Pick<ViewParts, 'repository' | 'refs' | 'state'> {
  /** Those that are viewed already. */
  readonly variants: VariantView[]
  tags: ViewedTags
  /** The previous view of the same artifact … */
  readonly before: SeenNames | ArtifactView | undefined
  /** … and the dates of its branches and tags, computed on first use. */
  seen?: ReturnType<typeof datesOf>
  readonly previous: ArtifactView | undefined
  /** The variants of the previous view, by slug. */
  readonly known: ReadonlyMap<string, VariantView>
  readonly slice: TimeSlice
  /** Whether a date is known only here. */
  isUnrecorded: boolean
  /** The commits of all branches, computed when a branch has no record. */
  chains?: Chains
}

/** Adds a branch without a record, which plain git made. A branch whose name is no slug is ignored. */
async function viewPushed(work: Viewing, slug: string, head: Oid): Promise<void> {
  if (slugProblem(slug) !== undefined) return
  const old = work.known.get(slug)
  const record = old?.head === head ? old.record : await recordOfPushed(work, slug, head)
  const since = sinceOfRef(work, 'variants', slug) ?? claimDate(record.created_at)
  const id = variantUuid(slug, repositoryDigits(work.state.artifact.id))
  work.variants.push(old?.record === record && old.since === since ? old : { slug, id, head, record, since })
  if (work.slice.isOver) await work.slice.rest()
}

/**
 * The record of a branch without one. Its creation date is that of the oldest commit that is on no branch with a record. That commit stays the
 * same while the branch only grows.
 */
async function recordOfPushed(work: Viewing, slug: string, head: Oid): Promise<VariantRecord> {
  const { history, objects } = work.repository
  const chains = (work.chains ??= await Chains.of(history, headsIn(work.refs), work.slice))
  let own = await history.node(head)
  while (own.parent && (await chains.isOwn(own.parent))) own = own.parent
  const commit = parseCommit(await readBytes(objects, own.oid, 'commit'))
  return {
    name: slug,
    created_at: new Date(commit.committer.seconds * 1000).toISOString(),
    created_by_id: `${commit.author.name} <${commit.author.email}>`,
  }
}

function headsIn({ refs }: RefSnapshot): ReadonlySet<Oid> {
  return new Set([...refs].flatMap(([name, oid]) => (name.startsWith(HEADS) ? oid : [])))
}

/**
 * The date of a branch or tag without a record: from an earlier look, else now. Undefined if git's own date counts, as for those that an earlier
 * version left.
 */
function sinceOfRef(work: Viewing, kind: 'variants' | 'tags', slug: string): string | undefined {
  const { before, state } = work
  const isRecorded = state.tags !== undefined
  const since = before && (work.seen ??= datesOf(before))[kind].get(slug)
  if (isRecorded || (before && since === undefined)) work.isUnrecorded = true
  return since ?? (isRecorded || before ? new Date().toISOString() : undefined)
}

function datesOf(
  seen: SeenNames | ArtifactView,
): Readonly<Record<'variants' | 'tags', ReadonlyMap<string, string>>> {
  if ('names' in seen) return { variants: new Map(seen.names.variants), tags: new Map(seen.names.tags) }
  return { variants: new Map(seen.variants.map(({ slug, since }) => [slug, since])), tags: seen.tagsSince }
}

function byCreation(a: VariantView, b: VariantView): number {
  return compare(a.record.created_at, b.record.created_at) || compare(a.slug, b.slug)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Adds a tag of a commit, and its date. A tag of a tree or a blob is ignored. */
async function viewTag(work: Viewing, name: string, oid: Oid): Promise<void> {
  const slug = name.slice(TAGS.length)
  const commit = knownTag(work.previous, name, slug, oid) ?? (await peel(work.repository, oid, name))
  if (work.slice.isOver) await work.slice.rest()
  if (!commit) return
  const recorded = work.state.tags?.get(slug)
  const since = recorded === undefined ? sinceOfRef(work, 'tags', slug) : claimDate(recorded)
  if (work.tags === NO_TAGS) work.tags = { tags: new Map(), tagsSince: new Map() }
  work.tags.tags.set(slug, commit.oid)
  work.tags.tagsSince.set(slug, since ?? commit.date())
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

/** The target of a tag, and the tag's date. */
interface TaggedCommit {
  readonly oid: Oid
  readonly date: () => string
}

/** The commit that a tag names, through annotated tags; undefined if it names a tree or blob. Refuses a tag whose target is missing. */
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
