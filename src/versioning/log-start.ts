import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { Family } from './family.ts'
import { artifactById, revisionById, variantById } from './references.ts'
import type { Registry } from './registry.ts'
import { resolveRevision } from './resolve-revision.ts'
import type { RevisionPlace } from './revision.ts'
import { placeOf } from './revision.ts'

/** What a log request names; the most specific counts (contract/workflows 7). */
export interface LogOf {
  readonly revisionId: string | undefined
  readonly variantId: string | undefined
  readonly artifactId: string | undefined
}

/**
 * Where a log begins: the revision named, else the head of the variant or of the artifact's default variant; the log itself
 * leaves out what is archived. Undefined where there is no revision to list, which is an empty list and no error (ruling
 * 1.4).
 */
export async function logStart(
  registry: Registry,
  family: Family,
  { revisionId, variantId, artifactId }: LogOf,
): Promise<RevisionPlace | undefined> {
  if (revisionId !== undefined) return revisionById(registry, family, revisionId)
  if (variantId !== undefined) {
    const { artifact, variant } = await variantById(registry, family, variantId)
    return headOf(artifact, variant)
  }
  if (artifactId === undefined) return resolveRevision(registry, family, {})
  const artifact = await artifactById(registry, family, artifactId)
  return artifact.defaultVariant && headOf(artifact, artifact.defaultVariant)
}

async function headOf(artifact: ArtifactView, variant: VariantView): Promise<RevisionPlace | undefined> {
  return variant.head === undefined ? undefined : placeOf(artifact, variant, variant.head)
}
