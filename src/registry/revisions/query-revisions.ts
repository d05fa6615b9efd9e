import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import type { RevisionFilter } from '../artifacts/filters.ts'
import { holdsText, matchesFlags, matchesHeader, naming } from '../artifacts/filters.ts'
import { changesPinOf } from '../environments/pin.ts'
import type { Family } from '../payload/family.ts'
import { objectUuid } from '../store/ids.ts'
import type { ListedRevision } from '../index/artifact-index.ts'
import type { RevisionKey, RevisionQuestion } from '../index/database/find-revisions.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import type { Ordered, Window, Windowing } from '../store/pagination.ts'
import { cutWindow, isByCreation, unknownCursor } from '../store/pagination.ts'
import type { Reference } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import type { RevisionAsk, RevisionQuery } from './ask-revisions.ts'
import { isoSeconds } from './revision.ts'
import { isNarrow, oneOf, questionOf } from './ask-revisions.ts'
import { resolveReference } from './references.ts'
import type { Revision, RevisionLocation } from './revision.ts'
import { findRevisionById, homeAmong, readListedRevision, revisionFlags } from './revision.ts'

const REVISIONS_BETWEEN_YIELDS = 50

/** Sorting by name must read each commit, since only commits hold names. */
const MAX_SORTED_BY_NAME = 10_000

/**
 * Lists the revisions that match, by date unless the window sorts by name. Each is listed once, at its home
 * variant or the variant asked for. A revision is hidden while it, its artifact, or every variant that holds
 * it is archived (interface 4.27). Conditions on the commit alone are checked by the index; the others are
 * checked in order until the page is full. Throws `query_too_slow` to sort too many by name.
 */
export async function queryRevisions(
  registry: Registry,
  family: Family,
  query: RevisionQuery,
): Promise<Window<Revision>> {
  const windowing = sinceCreated(query.windowing)
  const ids = await idsNamed(registry, family, query.revisions)
  const named = theNamed(ids, query.of?.revision) ?? query.among
  const pinned = await withIds(registry, naming(query.pinned))
  const first = windowing && { ...windowing, next: undefined }
  const whole = { ...query, named, pinned, cursor: undefined, windowing: first }
  if (!isByCreation(windowing)) return queryByName(registry, family, whole, windowing)
  const cursor = windowing?.next === undefined ? undefined : await keyOf(registry, family, windowing.next)
  const total = windowing?.count_total ? await countRevisions(registry, family, whole) : undefined
  const found: Revision[] = []
  for await (const revision of matching(registry, family, { ...whole, windowing, cursor })) {
    const last = found.at(-1)
    if (last && found.length === windowing?.limit) return { rows: found, next: last.id, total }
    found.push(revision)
  }
  return { rows: found, next: undefined, total }
}

/** A revision never changes, so sorting by update means sorting by creation. */
function sinceCreated(windowing: Windowing | undefined): Windowing | undefined {
  if (!windowing?.order?.endsWith('updated')) return windowing
  return { ...windowing, order: windowing.order === 'updated' ? 'created' : '-created' }
}

/** Scans all matching revisions for each page, because the index does not know their names. */
async function queryByName(
  registry: Registry,
  family: Family,
  ask: RevisionAsk,
  windowing: Windowing | undefined,
): Promise<Window<Revision>> {
  const rows: Ordered<RevisionLocation>[] = []
  for await (const { id, stored, ...place } of matching(registry, family, ask)) {
    if (rows.length === MAX_SORTED_BY_NAME) throw tooManyNames()
    rows.push({
      id,
      createdAt: isoSeconds(stored.commit.committer.seconds),
      name: stored.header.name,
      value: place,
    })
  }
  const window = await cutWindow(rows, windowing, () => true)
  return {
    ...window,
    rows: await new TimeSlice(ask.signal).map(window.rows, (place) => readListedRevision(place, ask.signal)),
  }
}

function tooManyNames(): Refusal {
  const msg = `more than ${MAX_SORTED_BY_NAME} revisions match, too many to put in order by name. Name an artifact, or order by "created".`
  return new Refusal('query_too_slow', `body.windowing.order: ${msg}`, {
    errors: [{ loc: ['body', 'windowing', 'order'], msg, type: 'query_too_slow' }],
  })
}

/** Counts the matching revisions. Decodes them only if the filter needs more than the commit. */
async function countRevisions(registry: Registry, family: Family, ask: RevisionAsk): Promise<number> {
  const { author, authors, date, dates, ...rest } = ask.filter
  let count = 0
  if (ask.pinned?.length || Object.values(rest).some((asked) => asked !== undefined)) {
    for await (const revision of matching(registry, family, ask)) if (revision) count++
    return count
  }
  for await (const row of await registry.index.revisions(family, questionOf(family, ask)))
    if (isWanted(row, ask)) count++
  return count
}

/** The matching revisions in index order, each decoded on demand. */
async function* matching(registry: Registry, family: Family, ask: RevisionAsk): AsyncGenerator<Revision> {
  const question = questionOf(family, ask)
  const { pinned = [] } = ask
  let decoded = 0
  const listed = await registry.index.revisions(family, question)
  noteUnreadable(registry, ask, question)
  for await (const row of listed) {
    if (!isWanted(row, ask)) continue
    ask.signal?.throwIfAborted()
    if (++decoded % REVISIONS_BETWEEN_YIELDS === 0) await yieldToEventLoop()
    const revision = await unlessDamaged(registry, row.artifact, async () => {
      const read = await revisionOf(row, ask.signal)
      if (!matches(read, ask.filter)) return undefined
      return pinned.length === 0 || (await changesPinOf(registry, read, pinned)) ? read : undefined
    })
    if (revision) yield revision
  }
}

/**
 * Records artifacts left out because their commits cannot be read. Throws `damaged_repository` if the query
 * names only such artifacts.
 */
function noteUnreadable({ index }: Registry, ask: RevisionAsk, question: RevisionQuestion): void {
  const { unreadable, areAll } = index.unreadable(question)
  for (const { artifact, reason } of unreadable) {
    if (areAll && isNarrow(ask)) throw reason
    index.leftOut(artifact, reason)
  }
}

/** Checks conditions that the index does not know. */
function isWanted({ artifact, oid, depth, holders }: ListedRevision, ask: RevisionAsk): boolean {
  const id = objectUuid(oid, artifact.digits)
  if (ask.named?.has(id) === false || ask.among?.has(id) === false) return false
  if (!ask.includeArchived && artifact.archived.has(id)) return false
  const slugs = oneOf(ask.filter.slug, ask.filter.slugs)
  // Which slug it has depends on its home, which is not known yet; this check excludes only impossible ones.
  const mayHave = (slug: string): boolean =>
    artifact.tags.get(slug) === oid || holders.some((it) => slug === `${it.slug}-${depth}`)
  return !slugs || slugs.some(mayHave)
}

/** Checks conditions that need the decoded revision. */
function matches({ artifact, slug, stored }: Revision, filter: RevisionFilter): boolean {
  if (!matchesHeader(slug, stored.header, filter) || !holdsText(stored.message, filter.message)) return false
  return !filter.flags || matchesFlags(revisionFlags(artifact, stored.payload), filter.flags)
}

/** Adds the ids of artifacts that references name by slug, because a pin may hold only ids. */
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

/** The key of the row that a cursor names, even if that row is no longer visible. */
async function keyOf(registry: Registry, family: Family, next: string): Promise<RevisionKey> {
  const artifact = await registry.index.findByDigits(next)
  const place = artifact?.family === family ? await findRevisionById(artifact, next) : undefined
  if (!place) throw unknownCursor(next)
  const { oid, version } = place
  const { commit } = (await readListedRevision(place)).stored
  return { oid, depth: version, digits: place.artifact.digits, seconds: commit.committer.seconds }
}

/** A listed revision, placed at its home among the listed variants. */
async function revisionOf(
  { artifact, oid, depth, holders }: ListedRevision,
  signal: AbortSignal | undefined,
): Promise<Revision> {
  const [first] = holders
  if (!first) throw new Error(`no variant holds ${oid}`)
  const place = { artifact, variant: first, oid, version: depth }
  const revision = await readListedRevision(place, signal)
  const home = homeAmong(holders, revision.stored.trailers.variant) ?? first
  return home === first ? revision : readListedRevision({ ...place, variant: home }, signal)
}

/** The ids that the references name, resolved as a retrieve would; undefined if they name nothing. */
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

/** Narrows the named ids, or all ids, to the requested id if there is one. */
function theNamed(
  named: ReadonlySet<string> | undefined,
  id: string | undefined,
): ReadonlySet<string> | undefined {
  if (id === undefined) return named
  return new Set(named && !named.has(id) ? [] : [id])
}

/** The id of the revision that a slug names, if any. */
async function idOf(registry: Registry, family: Family, revision: Reference): Promise<string | undefined> {
  try {
    const { artifact, oid } = await resolveReference(registry, family, { revision })
    return objectUuid(oid, artifact.digits)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'revision_not_found') return undefined
    throw error
  }
}
