import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import { findVariant } from '../versioning/artifacts/artifact-view.ts'
import type { Registry } from '../versioning/registry.ts'
import type { Searched } from './texts-of.ts'

/** A revision of an artifact and the variant that it is found under, or the artifact by itself. Refuses what cannot be read. */
export async function searchedAt(
  registry: Registry,
  artifact: ArtifactView,
  oid: string | undefined,
): Promise<Searched> {
  if (oid === undefined) return { artifact, variant: artifact.defaultVariant, stored: undefined }
  const stored = await registry.revisions(artifact.family).readForList(artifact.repository.objects, oid)
  const made =
    stored.trailers.variant === undefined ? undefined : findVariant(artifact, stored.trailers.variant)
  const heads = artifact.variants.filter(({ head }) => head === oid)
  return { artifact, variant: heads.find((variant) => variant === made) ?? heads[0] ?? made, stored }
}
