import { type Json, entriesOf, isJsonObject, stringifyJson } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { Family } from '../payload/family.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import type { ListedArtifact } from '../index/index-tables.ts'
import type { Order, Ordered, Window, Windowing } from '../store/pagination.ts'
import { byCreation, cutWindow, cutWindowOf } from '../store/pagination.ts'
import type { Reference } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import type { Revision } from '../revisions/revision.ts'
import { latestOf, readListedRevision, revisionFlags } from '../revisions/revision.ts'
import type { ArtifactView, RecordedArtifact, VariantView } from './artifact-view.ts'
import type { ArtifactFilter } from './filters.ts'
import type { VariantRecord } from './artifact-record.ts'
import { isThe, matchesFlags, matchesFolder, matchesHeader, matchesReferences } from './filters.ts'

/** A query at the artifact or variant level (interface 2.16). */
export interface ArtifactQuery {
  readonly filter: ArtifactFilter
  /** Flags that the surface requires in addition to the filter's own. */
  readonly roles: Readonly<Record<string, boolean>>
  readonly artifacts?: readonly Reference[] | undefined
  readonly variants?: readonly Reference[] | undefined
  /** The id of the artifact, variant or revision that the item is or belongs to. */
  readonly of?: Readonly<Record<'artifact' | 'variant' | 'revision', string | undefined>> | undefined
  /** If present, only items with these ids are listed. */
  readonly among?: ReadonlySet<string> | undefined
  readonly includeArchived?: boolean | undefined
  readonly windowing?: Windowing | undefined
  /** Aborted when the client is gone. */
  readonly signal?: AbortSignal | undefined
}

/** The artifacts that match, by creation unless the window has another order. */
export async function queryArtifacts(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<RecordedArtifact>> {
  const { rows } = await registry.index.list(family)
  const order = await orderFor(registry, family, query)
  const window = await cutWindowOf(rows, order, query.windowing, matching(query))
  // An artifact that has changed since the index listed it is matched again.
  const shown = window.rows.map(recorded).filter((artifact) => matchesArtifact(artifact, query))
  return { ...window, rows: shown }
}

/** The number of artifacts that match, on all pages. */
export async function countArtifacts(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<number> {
  const { rows } = await registry.index.list(family)
  const matches = matching(query)
  let count = 0
  await new TimeSlice(query.signal).each(rows, (row) => {
    if (matches(row)) count++
  })
  return count
}

/** A variant in a list, and its artifact. */
export interface ListedVariant {
  readonly artifact: RecordedArtifact
  readonly variant: VariantView
}

/** The variants that match. They can be sorted in the same ways as artifacts. Variants of an archived artifact are left out. */
export async function queryVariants(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<ListedVariant>> {
  const found: Ordered<ListedVariant>[] = []
  const { rows } = await registry.index.list(family)
  await new TimeSlice().each(rows, (row) => {
    // A cursor only names items of the same query.
    if (!isAmong(row, query)) return
    const { view } = row
    const artifact = recorded(view)
    for (const variant of view.variants) {
      const value = { artifact, variant }
      const isCursor = variant.id === query.windowing?.next
      if (isCursor || matchesVariant(value, query))
        found.push({ id: variant.id, ...orderedAs(variant.record), value })
    }
  })
  found.sort(byCreation)
  return cutWindow(found, query.windowing, (value) => matchesVariant(value, query))
}

/** The artifact's current state. */
function recorded({ family, id, slug, record }: RecordedArtifact): RecordedArtifact {
  return { family, id, slug, record }
}

function matchesVariant({ artifact, variant }: ListedVariant, query: ArtifactQuery): boolean {
  if (!query.includeArchived && (isArchived(artifact.record) || isArchived(variant.record))) return false
  return (
    matchesHeader(variant.slug, variant.record, query.filter) &&
    matchesRoles(artifact, query) &&
    matchesReferences(query.variants, variant.id, ({ slug }) => slug === variant.slug) &&
    isThe(query.of?.variant, variant.id) &&
    (query.among?.has(variant.id) ?? true)
  )
}

/** An artifact with the latest revision of its default variant, as the simple endpoints show it. */
export interface FlatArtifact {
  readonly artifact: ArtifactView
  readonly revision: Revision | undefined
}

/** The artifacts that match, each with its latest revision; flags are matched against that revision. */
export async function queryFlat(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<FlatArtifact>> {
  const { signal } = query
  const { flags, ...filter } = query.filter
  const known = new Map<ArtifactView, FlatArtifact | undefined>()
  const read = async (artifact: ArtifactView): Promise<FlatArtifact | undefined> => {
    if (!known.has(artifact))
      known.set(artifact, await unlessDamaged(registry, artifact, () => flatten(artifact, signal)))
    return known.get(artifact)
  }
  const list = await registry.index.list(family)
  const matches = matching({ ...query, filter })
  const order = await orderFor(registry, family, query)
  const window = await cutWindowOf(list.rows, order, query.windowing, (row) => {
    if (!matches(row)) return false
    if (flags === undefined) return true
    return read(row.view).then((flat) => flat !== undefined && matchesFlags(flatFlags(flat), flags))
  })
  const rows = await new TimeSlice(signal).map(window.rows, (row) => read(row.view))
  return { ...window, rows: rows.filter((flat) => flat !== undefined) }
}

/** The artifact with the latest revision of its default variant, if that decodes. */
export async function flatten(artifact: ArtifactView, signal?: AbortSignal): Promise<FlatArtifact> {
  const place = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
  return { artifact, revision: place && (await readListedRevision(place, signal)) }
}

/** The flags of a flat record: the roles, and those derived from the latest payload. */
export function flatFlags({ artifact, revision }: FlatArtifact): Readonly<Record<string, boolean>> {
  return revisionFlags(artifact, revision?.stored.payload)
}

/** The orders of artifacts. */
const ORDER: Order<ListedArtifact> = {
  id: ({ id }) => id,
  createdAt: ({ createdAt }) => createdAt,
  name: ({ record }) => record.name,
  updatedAt: ({ record }) => record.updated_at,
}

/** For the order of the last change, the newest revision of each artifact counts as a change, too (interface 2.19). */
async function orderFor(
  registry: Registry,
  family: Family,
  { windowing }: ArtifactQuery,
): Promise<Order<ListedArtifact>> {
  if (!windowing?.order?.endsWith('updated')) return ORDER
  await registry.index.refresh([family])
  const newest = await registry.index.database.newest(family.folder)
  const updatedAt = ({ id, createdAt, record }: ListedArtifact): string => {
    const edited = record.updated_at ?? createdAt
    const seconds = newest.get(id)
    // As precise as the times of edits, which are texts.
    const committed = seconds === undefined ? '' : new Date(seconds * 1000).toISOString()
    return committed > edited ? committed : edited
  }
  return { ...ORDER, updatedAt }
}

function orderedAs({ created_at: createdAt, updated_at: updatedAt, name }: VariantRecord) {
  return { createdAt, updatedAt, name }
}

/** Whether an artifact matches. Most artifacts that do not match are rejected without reading their record. */
function matching(query: ArtifactQuery): (artifact: ListedArtifact) => boolean {
  const texts = [...textsIn(query.filter.tags ?? {}), ...textsIn(query.filter.meta ?? {})]
  return (artifact) => texts.every((text) => artifact.mayHold(text)) && matchesArtifact(artifact, query)
}

/** The texts in a filter's value, as JSON without quotes: every matching record contains each of them. */
function* textsIn(wanted: Json): Generator<string> {
  if (typeof wanted === 'string') yield stringifyJson(wanted).slice(1, -1)
  else if (isJsonObject(wanted)) for (const [, value] of entriesOf(wanted)) yield* textsIn(value)
}

function matchesArtifact(artifact: RecordedArtifact, query: ArtifactQuery): boolean {
  if (!isAmong(artifact, query) || !(query.among?.has(artifact.id) ?? true)) return false
  const { slug, record } = artifact
  if (!query.includeArchived && isArchived(record)) return false
  if (query.filter.folder !== undefined && !matchesFolder(record.folder ?? '', query.filter)) return false
  return matchesHeader(slug, record, query.filter) && matchesRoles(artifact, query)
}

/** Whether the artifact is one of the named ones, if any are named. */
function isAmong({ id, slug }: RecordedArtifact, { artifacts, of }: ArtifactQuery): boolean {
  return matchesReferences(artifacts, id, (reference) => reference.slug === slug) && isThe(of?.artifact, id)
}

function matchesRoles(artifact: RecordedArtifact, { roles, filter }: ArtifactQuery): boolean {
  const flags = artifact.record.flags ?? {}
  return matchesFlags(flags, roles) && matchesFlags(flags, filter.flags)
}

function isArchived(record: { readonly deleted_at?: string | undefined }): boolean {
  return record.deleted_at !== undefined
}
