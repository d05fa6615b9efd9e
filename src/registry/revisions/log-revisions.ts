import type { HistoryNode } from '../../git/history.ts'
import { Pace, TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { objectUuid } from '../store/ids.ts'
import type { Ordered, Window, Windowing } from '../store/pagination.ts'
import { cutWindow } from '../store/pagination.ts'
import type { References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { resolveArtifact, resolveVariant, resolveReference } from './references.ts'
import type { Revision, RevisionLocation } from './revision.ts'
import { dateOf, locate, readCommitAt, readListedRevision, readOutline } from './revision.ts'

export interface LogOptions {
  /** At most so many revisions, the first included. */
  readonly depth?: number | undefined
  readonly includeArchived?: boolean | undefined
  readonly windowing?: Windowing | undefined
  /** Whether the payloads of the revisions are shown. */
  readonly withData?: boolean | undefined
  /** Ends it. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The revision at `start` and those before it on its first-parent chain, newest first unless windowing orders otherwise
 * (interface 4.20). Revisions archived one by one are left out unless asked for.
 */
export async function logRevisions(
  start: RevisionLocation,
  { depth, includeArchived, windowing, withData = false, signal }: LogOptions,
): Promise<Window<Revision>> {
  const { artifact, variant } = start
  const slice = new TimeSlice(signal)
  const pace = new Pace()
  const chain: (RevisionLocation & { readonly isListed: boolean })[] = []
  let node: HistoryNode | undefined = await artifact.repository.history.node(start.oid)
  let listed = 0
  while (node && (depth === undefined || listed < depth)) {
    const isListed = includeArchived || !artifact.archived.has(objectUuid(node.oid, artifact.digits))
    if (isListed) listed++
    chain.push({ artifact, variant, oid: node.oid, version: node.depth, isListed })
    node = node.parent
    if (pace.isDue) await slice.pause()
  }
  const needsTimes = windowing?.newest !== undefined || windowing?.oldest !== undefined
  const rows: Ordered<(typeof chain)[number]>[] = []
  for (const place of chain.reverse()) {
    const createdAt = needsTimes ? dateOf(await readCommitAt(place)) : ''
    rows.push({ id: objectUuid(place.oid, artifact.digits), createdAt, value: place })
    if (pace.isDue) await slice.pause()
  }
  const window = await cutWindow(rows, { order: 'descending', ...windowing }, ({ isListed }) => isListed)
  const read = withData ? readListedRevision : readOutline
  return {
    rows: await slice.map(window.rows, (place) => read(place, signal)),
    next: window.next,
  }
}

/**
 * Where a log begins: the revision named, else the head of the variant or of the artifact's default variant; the log itself
 * leaves out what is archived. Undefined where there is no revision to list, which is an empty list and no error (interface 3.5).
 *
 */
export async function logStart(
  registry: Registry,
  family: Family,
  references: References,
): Promise<RevisionLocation | undefined> {
  const { artifact, variant, revision } = references
  if (revision) return resolveReference(registry, family, references)
  if (variant) {
    const place = await resolveVariant(registry, family, variant, artifact)
    return headOf(place.artifact, place.variant)
  }
  if (!artifact) return resolveReference(registry, family, {})
  const found = await resolveArtifact(registry, family, artifact)
  return found.defaultVariant && headOf(found, found.defaultVariant)
}

async function headOf(artifact: ArtifactView, variant: VariantView): Promise<RevisionLocation | undefined> {
  return variant.head === undefined ? undefined : locate(artifact, variant, variant.head)
}
