import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { Family } from './family.ts'
import type { References } from './references.ts'
import { resolveArtifact, resolveVariant } from './references.ts'
import type { Registry } from './registry.ts'
import { resolveRevision } from './resolve-revision.ts'
import type { RevisionPlace } from './revision.ts'
import { placeOf } from './revision.ts'

/**
 * Where a log begins: the revision named, else the head of the variant or of the artifact's default variant; the log itself
 * leaves out what is archived. Undefined where there is no revision to list, which is an empty list and no error (ruling
 * 1.4).
 */
export async function logStart(
  registry: Registry,
  family: Family,
  references: References,
): Promise<RevisionPlace | undefined> {
  const { artifact, variant, revision } = references
  if (revision) return resolveRevision(registry, family, references)
  if (variant) {
    const place = await resolveVariant(registry, family, variant, artifact)
    return headOf(place.artifact, place.variant)
  }
  if (!artifact) return resolveRevision(registry, family, {})
  const found = await resolveArtifact(registry, family, artifact)
  return found.defaultVariant && headOf(found, found.defaultVariant)
}

async function headOf(artifact: ArtifactView, variant: VariantView): Promise<RevisionPlace | undefined> {
  return variant.head === undefined ? undefined : placeOf(artifact, variant, variant.head)
}
