import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import type { Family } from './family.ts'
import type { RevisionFilter } from './filters.ts'
import { matchesFlags, matchesHeader } from './filters.ts'
import { objectUuid } from './ids.ts'
import { inOrder } from './in-order.ts'
import { changesPinOf } from './pin-changes.ts'
import type { ArtifactQuery } from './query-artifacts.ts'
import type { Reference } from './references.ts'
import type { Registry } from './registry.ts'
import { resolveRevision } from './resolve-revision.ts'
import type { Revision } from './revision.ts'
import { findRevisionById, readListedRevision } from './revision.ts'
import { revisionFlags } from './revision-flags.ts'
import type { RevisionRow, RowPosition } from './revision-rows.ts'
import { isOlder, revisionRows } from './revision-rows.ts'
import type { Window } from './windowing.ts'
import { isDescending, unknownCursor } from './windowing.ts'

/** A query of revisions across the project. */
export interface RevisionQuery extends Omit<ArtifactQuery, 'filter'> {
  readonly filter: RevisionFilter
  readonly revisions?: readonly Reference[] | undefined
  /** Only those that changed what is pinned of one of these artifacts (contract/environments 9.2). */
  readonly pinned?: readonly Reference[] | undefined
}

/** So many revisions are decoded before other work gets its turn. */
const BREATH = 50

/**
 * The revisions that match, by date; each once, at its home, or at the variant asked for. Hidden while archived by itself,
 * with its artifact, or with every variant that holds it (ruling 3.11). What a commit alone says is asked of all of them, the rest
 * of those that are left, in order, until the page is full.
 */
export async function queryRevisions(
  registry: Registry,
  family: Family,
  query: RevisionQuery,
): Promise<Window<Revision>> {
  const { windowing } = query
  const named = await idsNamed(registry, family, query.revisions)
  const pinned = await withIds(registry, naming(query.pinned))
  const isBefore = isDescending(windowing) ? (a: RowPosition, b: RowPosition) => isOlder(b, a) : isOlder
  const cursor =
    windowing?.next === undefined ? undefined : await positionOf(registry, family, windowing.next)
  const rows = await revisionRows(registry, family, { ...query, named })
  const ahead = cursor ? rows.filter((row) => isBefore(cursor, row)) : rows
  const found: Revision[] = []
  let decoded = 0
  for (const row of inOrder(ahead, isBefore)) {
    if (++decoded % BREATH === 0) await nextTurn()
    const revision = await revisionOf(registry, row)
    if (!matches(revision, query.filter)) continue
    if (pinned.length > 0 && !(await changesPinOf(registry, revision, pinned))) continue
    const last = found.at(-1)
    if (last && found.length === windowing?.limit) return { rows: found, next: last.id }
    found.push(revision)
  }
  return { rows: found, next: undefined }
}

/** What only the decoded revision says. */
function matches({ artifact, slug, stored }: Revision, filter: RevisionFilter): boolean {
  if (!matchesHeader(slug, stored.header, filter)) return false
  return !filter.flags || matchesFlags(revisionFlags(artifact, stored.payload), filter.flags)
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

/** Where the row that a cursor names stands, in view or not (any more): paging goes on from there. */
async function positionOf(registry: Registry, family: Family, next: string): Promise<RowPosition> {
  const artifact = await registry.index.findByDigits(next)
  const place = artifact?.family === family ? await findRevisionById(registry, artifact, next) : undefined
  if (!place) throw unknownCursor(next)
  const { oid, version } = place
  const { commit } = (await readListedRevision(registry, place)).stored
  return { artifact: place.artifact, link: { oid, depth: version, seconds: commit.committer.seconds } }
}

/** The revision of a row as it is listed: at its home, the variant of its holders that it was made on, else the oldest of them. */
async function revisionOf(registry: Registry, { artifact, link, holders }: RevisionRow): Promise<Revision> {
  const [first] = holders
  if (!first) throw new Error(`no variant holds ${link.oid}`)
  const place = { artifact, variant: first, oid: link.oid, version: link.depth }
  const revision = await readListedRevision(registry, place)
  const home = holders.find(({ slug }) => slug === revision.stored.trailers.variant) ?? first
  return home === first ? revision : readListedRevision(registry, { ...place, variant: home })
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
