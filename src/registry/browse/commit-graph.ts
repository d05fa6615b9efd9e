import { recentlyUsed } from '../../base/recently-used.ts'
import { ancestorAt } from '../../git/history.ts'
import { parseCommit, type Oid } from '../../git/objects.ts'
import type { RefSnapshot } from '../../git/refs.ts'
import type { Repository } from '../../git/store.ts'
import { type AllowedSigner, type CommitSignature, verifyCommit } from '../../git/signing.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import { readBytes } from '../payload/tree-files.ts'
import { objectUuid, oidPrefix } from '../store/ids.ts'
import { ENVIRONMENT_REFS } from '../environments/mirrors.ts'
import type { Window, Windowing } from '../store/pagination.ts'
import { unknownCursor } from '../store/pagination.ts'
import { decodeMessage } from '../revisions/stored-revision.ts'
import { isLive } from '../revisions/revision.ts'

/** A commit in the graph of an artifact's history. */
export interface GraphNode {
  readonly id: string
  readonly commit: Oid
  readonly parents: readonly Oid[]
  /** Its home (interface 4.29); undefined for a commit that is on no variant's first-parent line. */
  readonly variant: VariantView | undefined
  /** First-parent depth. */
  readonly version: number
  /** The subject, as in `git log --format=%s`. */
  readonly subject: string
  /** `Name <email>`. */
  readonly author: string
  /** The commit's time in seconds since 1970. */
  readonly seconds: number
  readonly refs: readonly GraphRef[]
  /** The verification of the commit's signature; only on request. */
  readonly signature?: CommitSignature
}

/** A ref to a commit, without the folder of its kind. */
export interface GraphRef {
  readonly kind: 'variant' | 'tag' | 'environment'
  readonly name: string
}

/** The parts of a commit that determine the order; the rest of a node is read when it is shown. */
interface Place {
  readonly oid: Oid
  readonly parents: readonly Oid[]
  readonly seconds: number
}

/** An artifact's commits at one state of its refs. */
interface Graph {
  readonly refs: RefSnapshot
  /** Newest first, each before its parents. */
  readonly places: readonly Place[]
  readonly byOid: ReadonlyMap<Oid, Place>
  /** The index in `liveFirst` of the first variant whose first-parent line holds the commit. */
  readonly holders: ReadonlyMap<Oid, number>
}

/**
 * Recently drawn graphs, at most 32 MB. A page needs the order of all commits, because only that shows which
 * of two commits with odd dates is the parent. Walking 10,000 commits takes half a second; cutting a page
 * from a cached order takes a few milliseconds. When a ref moves, the order is recomputed from the cached
 * commits, and only new commits are read.
 */
const graphs = recentlyUsed<Repository, Graph>(32 * 1024 * 1024, ({ places }) => 1000 + 400 * places.length)

/**
 * A page of the commits that the artifact's variants reach, archived or not, newest first, each before its
 * parents. With `signers`, each signature is verified, which costs about 100 µs per commit. Throws
 * `invalid_cursor` for a cursor that is no node's id.
 */
export async function graphOf(
  artifact: ArtifactView,
  windowing: Pick<Windowing, 'limit' | 'next'> = {},
  signers?: readonly AllowedSigner[],
): Promise<Window<GraphNode>> {
  const { places, holders } = await orderOf(artifact)
  const { limit = Number.POSITIVE_INFINITY, next } = windowing
  const from = next === undefined ? 0 : 1 + indexOf(artifact, places, next)
  const page = places.slice(from, from + limit)
  const refs = refsOf(artifact)
  const variants = liveFirst(artifact)
  const rows: GraphNode[] = []
  await new TimeSlice().each(page, async (place) => {
    const first = variants[holders.get(place.oid) ?? variants.length]
    rows.push(await nodeOf(artifact, place, first, refs.get(place.oid) ?? [], signers))
  })
  return { rows, next: from + page.length < places.length ? rows.at(-1)?.id : undefined }
}

function indexOf({ digits }: ArtifactView, places: readonly Place[], next: string): number {
  const prefix = oidPrefix(next)
  const index = places.findIndex(({ oid }) => oid.startsWith(prefix) && objectUuid(oid, digits) === next)
  if (index < 0) throw unknownCursor(next)
  return index
}

async function nodeOf(
  artifact: ArtifactView,
  { oid, parents, seconds }: Place,
  first: VariantView | undefined,
  refs: readonly GraphRef[],
  signers: readonly AllowedSigner[] | undefined,
): Promise<GraphNode> {
  const { history, objects } = artifact.repository
  const bytes = await readBytes(objects, oid, 'commit')
  const { author, message: text } = parseCommit(bytes)
  // What a limited key is told of an environment's commits, its revisions say.
  const { subject, trailers } = artifact.whole
    ? await artifact.revisions.readCommit(artifact.repository.objects, oid)
    : decodeMessage(text)
  const { depth } = await history.node(oid)
  const made = trailers.variant === undefined ? undefined : findVariant(artifact, trailers.variant)
  const isHome =
    made === first || (made && first && isLive(made) && (await isOnLine(artifact, made, oid, depth)))
  return {
    id: objectUuid(oid, artifact.digits),
    commit: oid,
    parents,
    variant: isHome ? made : first,
    version: depth,
    subject,
    author: `${author.name} <${author.email}>`,
    seconds,
    refs,
    ...(signers && { signature: verifyCommit(bytes, signers) }),
  }
}

/** The variants by precedence as home of a commit made on none of them: live ones first, then the oldest. */
function liveFirst({ variants }: ArtifactView): readonly VariantView[] {
  return [...variants.filter(isLive), ...variants.filter((variant) => !isLive(variant))]
}

async function isOnLine(
  { repository }: ArtifactView,
  { head }: VariantView,
  oid: Oid,
  depth: number,
): Promise<boolean> {
  return head !== undefined && ancestorAt(await repository.history.node(head), depth)?.oid === oid
}

function refsOf({ variants, tags, source }: ArtifactView): ReadonlyMap<Oid, readonly GraphRef[]> {
  const refs = new Map<Oid, GraphRef[]>()
  const add = (oid: Oid | undefined, ref: GraphRef): void => {
    if (oid !== undefined) refs.set(oid, [...(refs.get(oid) ?? []), ref])
  }
  for (const { head, slug } of variants) add(head, { kind: 'variant', name: slug })
  for (const [name, oid] of tags) add(oid, { kind: 'tag', name })
  for (const [ref, oid] of source.refs.refs)
    if (ref.startsWith(ENVIRONMENT_REFS))
      add(oid, { kind: 'environment', name: ref.slice(ENVIRONMENT_REFS.length) })
  return refs
}

async function orderOf(artifact: ArtifactView): Promise<Graph> {
  const { repository, source, variants } = artifact
  const before = graphs.get(repository)
  if (before?.refs === source.refs) return before
  const slice = new TimeSlice()
  const byOid = new Map<Oid, Place>()
  /** How many children of a commit are not placed yet. */
  const children = new Map<Oid, number>()
  const unread = variants.flatMap(({ head }) => head ?? [])
  for (let oid = unread.pop(); oid !== undefined; oid = unread.pop()) {
    if (byOid.has(oid)) continue
    const place = before?.byOid.get(oid) ?? (await readPlace(repository, oid))
    byOid.set(oid, place)
    for (const parent of place.parents) {
      children.set(parent, (children.get(parent) ?? 0) + 1)
      unread.push(parent)
    }
    if (byOid.size % COMMITS_BETWEEN_CLOCK_READS === 0) await slice.pause()
  }
  const holders = new Map<Oid, number>()
  for (const [index, { head }] of liveFirst(artifact).entries())
    if (head !== undefined && !holders.has(head)) holders.set(head, index)
  const graph = { refs: source.refs, places: await sorted(byOid, children, holders, slice), byOid, holders }
  graphs.set(repository, graph)
  return graph
}

const COMMITS_BETWEEN_CLOCK_READS = 64

async function readPlace({ objects }: Repository, oid: Oid): Promise<Place> {
  const { parents, committer } = parseCommit(await readBytes(objects, oid, 'commit'))
  return { oid, parents: [...new Set(parents)], seconds: committer.seconds }
}

/**
 * Sorts commits by date, each after its children: a commit counts as no newer than its children. On the way
 * from children to parents, records in `holders` which first-parent line each is on.
 */
async function sorted(
  byOid: ReadonlyMap<Oid, Place>,
  children: Map<Oid, number>,
  holders: Map<Oid, number>,
  slice: TimeSlice,
): Promise<readonly Place[]> {
  const dates = new Map<Oid, number>()
  const order: Place[] = []
  for (const place of byOid.values()) if (!children.has(place.oid)) order.push(place)
  // Commits without unplaced children are appended during the loop.
  for (const { oid, parents, seconds } of order) {
    const date = Math.min(seconds, dates.get(oid) ?? seconds)
    dates.set(oid, date)
    const holder = holders.get(oid)
    for (const [index, parent] of parents.entries()) {
      dates.set(parent, Math.min(date, dates.get(parent) ?? date))
      if (index === 0 && holder !== undefined)
        holders.set(parent, Math.min(holder, holders.get(parent) ?? holder))
      const left = (children.get(parent) ?? 0) - 1
      children.set(parent, left)
      const place = byOid.get(parent)
      if (left === 0 && place) order.push(place)
    }
    if (dates.size % COMMITS_BETWEEN_CLOCK_READS === 0) await slice.pause()
  }
  // The sort is stable, so children stay before parents of the same date.
  return order.sort((a, b) => (dates.get(b.oid) ?? 0) - (dates.get(a.oid) ?? 0))
}
