import { objectUuid } from '../ids.ts'
import type { Registry } from '../registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import type { WriteContext } from '../write-context.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import { changeArtifact } from './change-artifact.ts'
import { updated, variantInView } from './edit-artifact.ts'

/** Whether to archive or to unarchive. Doing what is done already changes nothing (interface 4.26). */
export type ArchiveAction = 'archive' | 'unarchive'

/** Archives or unarchives an artifact, which hides or shows its variants and revisions with it. */
export async function archiveArtifact(
  registry: Registry,
  artifact: ArtifactView,
  action: ArchiveAction,
  context: WriteContext,
): Promise<ArtifactView> {
  if (isDone(artifact.record, action)) return artifact
  return changeArtifact(registry, artifact, context, (state) => ({
    subject: `${verb(action)} ${artifact.family.name} ${artifact.slug}`,
    artifact: stamped(registry, state.artifact, action, context),
  }))
}

/** Archives or unarchives a variant, which hides or shows the revisions that no other live variant has. */
export async function archiveVariant(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  action: ArchiveAction,
  context: WriteContext,
): Promise<VariantLocation> {
  if (isDone(variant.record, action)) return { artifact, variant }
  const changed = await changeArtifact(registry, artifact, context, (state) => {
    const record = stamped(registry, state.variants.get(variant.slug) ?? variant.record, action, context)
    return { subject: `${verb(action)} variant ${variant.slug}`, variants: { [variant.slug]: record } }
  })
  return { artifact: changed, variant: variantInView(changed, variant) }
}

/** What hides a revision, or a variant or an artifact without one: the outermost of those that are archived; undefined where none is. */
export function archivedLevel(
  { record, archived }: ArtifactView,
  variant: VariantView | undefined,
  revisionId: string | undefined,
): 'artifact' | 'variant' | 'revision' | undefined {
  if (record.deleted_at !== undefined) return 'artifact'
  if (variant?.record.deleted_at !== undefined) return 'variant'
  return revisionId !== undefined && archived.has(revisionId) ? 'revision' : undefined
}

/** Archives or unarchives one revision; it stays resolvable by id and version for ever. */
export async function archiveRevision(
  registry: Registry,
  place: RevisionLocation,
  action: ArchiveAction,
  context: WriteContext,
): Promise<RevisionLocation> {
  const { artifact, variant, oid, version } = place
  const id = objectUuid(oid, artifact.digits)
  if (artifact.archived.has(id) === (action === 'archive')) return place
  const record =
    action === 'archive'
      ? { deleted_at: registry.now().toISOString(), deleted_by_id: context.actor.id }
      : undefined
  const changed = await changeArtifact(registry, artifact, context, () => ({
    subject: `${verb(action)} revision ${oid.slice(0, 12)} (${variant.slug} version ${version})`,
    archived: { [id]: record },
  }))
  return { artifact: changed, variant: variantInView(changed, variant), oid, version }
}

function isDone(record: { readonly deleted_at?: string | undefined }, action: ArchiveAction): boolean {
  return (record.deleted_at !== undefined) === (action === 'archive')
}

function stamped<T extends object>(
  registry: Registry,
  record: T,
  action: ArchiveAction,
  context: WriteContext,
): T {
  const stamp = updated(registry, context)
  if (action === 'archive') {
    return { ...record, ...stamp, deleted_at: stamp.updated_at, deleted_by_id: stamp.updated_by_id }
  }
  return { ...record, ...stamp, deleted_at: undefined, deleted_by_id: undefined }
}

function verb(action: ArchiveAction): string {
  return action === 'archive' ? 'Archive' : 'Unarchive'
}
