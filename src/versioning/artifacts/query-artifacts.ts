import type { Family } from '../family/family.ts'
import { unlessDamaged } from '../index/unless-damaged.ts'
import type { Order, Window, Windowing } from '../pagination.ts'
import { byCreation, cutWindow, cutWindowOf } from '../pagination.ts'
import type { Reference } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { Revision } from '../revisions/revision.ts'
import { latestOf, readListedRevision, revisionFlags } from '../revisions/revision.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { HeaderFilter } from './filters.ts'
import type { VariantRecord } from './records.ts'
import { isThe, matchesFlags, matchesHeader, matchesReferences } from './filters.ts'

/** A query at the artifact or variant level (contract/workflows 6.1). */
export interface ArtifactQuery {
  readonly filter: HeaderFilter
  /** Flags that the surface asks for beside the filter's own. */
  readonly roles: Readonly<Record<string, boolean>>
  readonly artifacts?: readonly Reference[] | undefined
  readonly variants?: readonly Reference[] | undefined
  /** The one artifact, variant or revision that it is or belongs to, by id. */
  readonly of?: Readonly<Record<'artifact' | 'variant' | 'revision', string | undefined>> | undefined
  /** The only ids of what is listed that are wanted, if it is there. */
  readonly among?: ReadonlySet<string> | undefined
  readonly includeArchived?: boolean | undefined
  readonly windowing?: Windowing | undefined
}

/** The artifacts that match, by creation unless the window asks for something else. */
export async function queryArtifacts(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<ArtifactView>> {
  const artifacts = await registry.index.list(family)
  return cutWindowOf(artifacts, ORDER, query.windowing, (artifact) => matchesArtifact(artifact, query))
}

/** The variants that match, in the same orders; those of an archived artifact are hidden with it. */
export async function queryVariants(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<VariantLocation>> {
  const rows = []
  for (const artifact of await registry.index.list(family)) {
    for (const variant of artifact.variants) {
      rows.push({ id: variant.id, ...orderedAs(variant.record), value: { artifact, variant } })
    }
  }
  rows.sort(byCreation)
  return cutWindow(rows, query.windowing, ({ artifact, variant }) => {
    if (!query.includeArchived && (isArchived(artifact.record) || isArchived(variant.record))) return false
    return (
      matchesHeader(variant.slug, variant.record, query.filter) &&
      matchesRoles(artifact, query) &&
      matchesReferences(query.artifacts, artifact.id, ({ slug }) => slug === artifact.slug) &&
      matchesReferences(query.variants, variant.id, ({ slug }) => slug === variant.slug) &&
      isThe(query.of?.artifact, artifact.id) &&
      isThe(query.of?.variant, variant.id) &&
      (query.among?.has(variant.id) ?? true)
    )
  })
}

/** An artifact with the latest revision of its default variant, as the simple endpoints show it. */
export interface FlatArtifact {
  readonly artifact: ArtifactView
  readonly revision: Revision | undefined
}

/** The artifacts that match, each with its latest revision; flags are asked of that revision. */
export async function queryFlat(
  registry: Registry,
  family: Family,
  query: ArtifactQuery,
): Promise<Window<FlatArtifact>> {
  const { flags, ...filter } = query.filter
  const known = new Map<ArtifactView, FlatArtifact | undefined>()
  const read = async (artifact: ArtifactView): Promise<FlatArtifact | undefined> => {
    if (!known.has(artifact))
      known.set(artifact, await unlessDamaged(registry, artifact, () => flatten(registry, artifact)))
    return known.get(artifact)
  }
  const artifacts = await registry.index.list(family)
  const asked = { ...query, filter }
  const window = await cutWindowOf(artifacts, ORDER, query.windowing, (artifact) => {
    if (!matchesArtifact(artifact, asked)) return false
    if (flags === undefined) return true
    return read(artifact).then((flat) => flat !== undefined && matchesFlags(flatFlags(flat), flags))
  })
  const rows = await Promise.all(window.rows.map(read))
  return { ...window, rows: rows.filter((flat) => flat !== undefined) }
}

/** The artifact with the latest revision of its default variant, as far as that decodes. */
export async function flatten(registry: Registry, artifact: ArtifactView): Promise<FlatArtifact> {
  const place = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
  return { artifact, revision: place && (await readListedRevision(registry, place)) }
}

/** The flags of a flat record: the roles and what is derived from the latest payload. */
export function flatFlags({ artifact, revision }: FlatArtifact): Readonly<Record<string, boolean>> {
  return revisionFlags(artifact, revision?.stored.payload)
}

/** How artifacts are ordered. */
const ORDER: Order<ArtifactView> = {
  id: ({ id }) => id,
  createdAt: ({ record }) => record.created_at,
  name: ({ record }) => record.name,
  updatedAt: ({ record }) => record.updated_at,
}

function orderedAs({ created_at: createdAt, updated_at: updatedAt, name }: VariantRecord) {
  return { createdAt, updatedAt, name }
}

function matchesArtifact(artifact: ArtifactView, query: ArtifactQuery): boolean {
  if (!query.includeArchived && isArchived(artifact.record)) return false
  return (
    matchesHeader(artifact.slug, artifact.record, query.filter) &&
    matchesRoles(artifact, query) &&
    matchesReferences(query.artifacts, artifact.id, ({ slug }) => slug === artifact.slug) &&
    isThe(query.of?.artifact, artifact.id) &&
    (query.among?.has(artifact.id) ?? true)
  )
}

function matchesRoles(artifact: ArtifactView, { roles, filter }: ArtifactQuery): boolean {
  const flags = artifact.record.flags ?? {}
  return matchesFlags(flags, roles) && matchesFlags(flags, filter.flags)
}

function isArchived(record: { readonly deleted_at?: string | undefined }): boolean {
  return record.deleted_at !== undefined
}
