import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import type { HistoryNode } from '../git/history.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { Family } from './family.ts'
import type { RevisionFilter } from './filters.ts'
import { holdsText, matchesFlags, matchesHeader, matchesReferences } from './filters.ts'
import { objectUuid } from './ids.ts'
import { dateOf } from './log-revisions.ts'
import { changesPinOf } from './pin-changes.ts'
import type { ArtifactQuery } from './query-artifacts.ts'
import type { Reference } from './references.ts'
import type { Registry } from './registry.ts'
import { resolveRevision } from './resolve-revision.ts'
import type { Revision } from './revision.ts'
import { findRevisionById, readListedRevision } from './revision.ts'
import { revisionFlags } from './revision-flags.ts'
import type { Ordered, Window } from './windowing.ts'
import { cutWindow } from './windowing.ts'

/** A query of revisions across the project. */
export interface RevisionQuery extends Omit<ArtifactQuery, 'filter'> {
  readonly filter: RevisionFilter
  readonly revisions?: readonly Reference[] | undefined
  /** Only those that changed what is pinned of one of these artifacts (contract/environments 9.2). */
  readonly pinned?: readonly Reference[] | undefined
}

/** So many artifacts are read, or revisions compared, before other work gets its turn. */
const BREATH = 50

/**
 * The revisions that match, by date; each once, at its home, or at the variant asked for. Hidden while archived by itself,
 * with its artifact, or with every variant that holds it (ruling 3.11).
 */
export async function queryRevisions(
  registry: Registry,
  family: Family,
  query: RevisionQuery,
): Promise<Window<Revision>> {
  const named = await idsNamed(registry, family, query.revisions)
  const pinned = await withIds(registry, naming(query.pinned))
  const rows: Row[] = []
  let looked = 0
  for (const artifact of await registry.index.list(family)) {
    if (!isArtifactWanted(artifact, query)) continue
    for (const revision of await revisionsOf(registry, artifact, query)) {
      rows.push(rowOf(revision))
    }
    if (++looked % BREATH === 0) await nextTurn()
  }
  const cursor = await missingCursor(registry, family, rows, query.windowing?.next)
  if (cursor) rows.push(cursor)
  rows.sort(
    (a, b) =>
      (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0) ||
      a.depth - b.depth ||
      (a.id < b.id ? -1 : 1),
  )
  let compared = 0
  const isChange = async (revision: Revision): Promise<boolean> => {
    if (++compared % BREATH === 0) await nextTurn()
    return changesPinOf(registry, revision, pinned)
  }
  return cutWindow(rows, query.windowing, (revision) => {
    if (revision === cursor?.value || !matches(revision, query, named)) return false
    return pinned.length > 0 ? isChange(revision) : true
  })
}

/** The references, and the ids of the artifacts that slugs among them name: a pin may hold nothing but ids. */
async function withIds(registry: Registry, references: readonly Reference[]): Promise<readonly Reference[]> {
  const ids: Reference[] = []
  for (const { id, slug } of references) {
    if (id !== undefined || slug === undefined) continue
    for (const family of registry.families) {
      const artifact = await registry.index.findBySlug(family, slug)
      if (artifact) ids.push({ id: artifact.id })
    }
  }
  return [...references, ...ids]
}

type Row = Ordered<Revision> & { readonly depth: number }

function rowOf(revision: Revision): Row {
  return { id: revision.id, createdAt: dateOf(revision), depth: revision.version, value: revision }
}

/** The row of a cursor that is not in view (any more), so that paging goes on where it stood. */
async function missingCursor(
  registry: Registry,
  family: Family,
  rows: readonly Row[],
  next: string | undefined,
): Promise<Row | undefined> {
  if (next === undefined || rows.some((row) => row.id === next)) return undefined
  const artifact = await registry.index.findByDigits(next)
  const place = artifact?.family === family ? await findRevisionById(registry, artifact, next) : undefined
  return place && rowOf(await readListedRevision(registry, place))
}

function isArtifactWanted(artifact: ArtifactView, query: RevisionQuery): boolean {
  if (!query.includeArchived && artifact.record.deleted_at !== undefined) return false
  const wanted = Object.fromEntries(
    Object.entries(query.filter.flags ?? {}).filter(([name]) => artifact.family.roles.includes(name)),
  )
  const flags = artifact.record.flags ?? {}
  return (
    matchesFlags(flags, query.roles) &&
    matchesFlags(flags, wanted) &&
    matchesReferences(query.artifacts, artifact.id, ({ slug }) => slug === artifact.slug)
  )
}

/** Each revision of the variants in view, once. */
async function revisionsOf(
  registry: Registry,
  artifact: ArtifactView,
  query: RevisionQuery,
): Promise<Revision[]> {
  const variants = artifact.variants.filter(
    (variant) =>
      (query.includeArchived || variant.record.deleted_at === undefined) &&
      matchesReferences(query.variants, variant.id, ({ slug }) => slug === variant.slug),
  )
  const holders = new Map<HistoryNode, VariantView[]>()
  for (const variant of variants) {
    let node = variant.head === undefined ? undefined : await artifact.repository.history.node(variant.head)
    for (; node; node = node.parent) {
      const known = holders.get(node)
      if (known) known.push(variant)
      else holders.set(node, [variant])
    }
  }
  const revisions: Revision[] = []
  for (const [node, holding] of holders) {
    const place = {
      artifact,
      variant: await homeAmong(registry, artifact, node, holding),
      oid: node.oid,
      version: node.depth,
    }
    revisions.push(await readListedRevision(registry, place))
  }
  return revisions
}

/** The variant of these that the commit was made on, else the oldest of them. */
async function homeAmong(
  registry: Registry,
  artifact: ArtifactView,
  node: HistoryNode,
  holding: readonly VariantView[],
): Promise<VariantView> {
  const [first] = holding
  if (!first) throw new Error(`no variant holds ${node.oid}`)
  if (holding.length === 1) return first
  const { trailers } = await registry
    .revisions(artifact.family)
    .readForList(artifact.repository.objects, node.oid)
  return holding.find((variant) => variant.slug === trailers.variant) ?? first
}

function matches(revision: Revision, query: RevisionQuery, named: ReadonlySet<string> | undefined): boolean {
  const { filter } = query
  const { stored } = revision
  if (!query.includeArchived && revision.archived) return false
  if (named && !named.has(revision.id)) return false
  if (!matchesHeader(revision.slug, stored.header, filter) || !holdsText(stored.message, filter.message))
    return false
  const { name, email } = stored.commit.author
  if (!isOneOf(`${name} <${email}>`, filter.author, filter.authors)) return false
  const dates = filter.dates?.map(asInstant)
  const date = filter.date === undefined ? undefined : asInstant(filter.date)
  if (!isOneOf(asInstant(dateOf(revision)), date, dates)) return false
  return !filter.flags || matchesFlags(revisionFlags(revision.artifact, stored.payload), filter.flags)
}

function isOneOf<T>(value: T, one: T | undefined, several: readonly T[] | undefined): boolean {
  if (one === undefined && several === undefined) return true
  return value === one || (several?.includes(value) ?? false)
}

function asInstant(time: string): number {
  return Date.parse(time)
}

/** The ids that the references name, each as a retrieve by it would; undefined if they name nothing at all. */
async function idsNamed(
  registry: Registry,
  family: Family,
  references: readonly Reference[] | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const wanted = naming(references)
  if (wanted.length === 0) return undefined
  const ids = new Set<string>()
  for (const revision of wanted) {
    const id = revision.id ?? (await idOf(registry, family, revision))
    if (id !== undefined) ids.add(id)
  }
  return ids
}

/** The references that name something; a list of none asks for nothing. */
function naming(references: readonly Reference[] = []): readonly Reference[] {
  return references.filter(({ id, slug }) => id !== undefined || slug !== undefined)
}

/** The id of the revision that a slug names; undefined if there is none. */
async function idOf(registry: Registry, family: Family, revision: Reference): Promise<string | undefined> {
  try {
    const { artifact, oid } = await resolveRevision(registry, family, { revision })
    return objectUuid(oid, artifact.digits)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'revision_not_found') return undefined
    throw error
  }
}
