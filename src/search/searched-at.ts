import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import type { Registry } from '../versioning/registry.ts'
import { homeAmong, homeOf } from '../versioning/revisions/revision.ts'
import type { Searched } from './texts-of.ts'

/** A revision of an artifact and the variant that it is found under, or the artifact by itself. Refuses what cannot be read. */
export async function searchedAt(
  registry: Registry,
  artifact: ArtifactView,
  oid: string | undefined,
): Promise<Searched> {
  if (oid === undefined) return { artifact, variant: artifact.defaultVariant, stored: undefined }
  const stored = await registry.revisions(artifact.family).readForList(artifact.repository.objects, oid)
  const heads = artifact.variants.filter(({ head }) => head === oid)
  const variant =
    homeAmong(heads, stored.trailers.variant) ?? (await homeOf(registry, artifact, oid))?.variant
  return { artifact, variant, stored }
}
