import { Refusal, invalid } from '../../errors.ts'
import { assertRevisionActive } from '../../versioning/revisions/revision.ts'
import { objectUuid } from '../../versioning/ids.ts'
import { noVariantYet } from '../../versioning/not-found.ts'
import type { References } from '../../versioning/reference.ts'
import type { Registry } from '../../versioning/registry.ts'
import {
  type VariantLocation,
  resolveArtifact,
  resolveVariant,
  resolveReference,
} from '../../versioning/revisions/references.ts'
import type { RevisionLocation } from '../../versioning/revisions/revision.ts'
import { variantToWrite } from '../../versioning/revisions/variant-to-write.ts'
import { parentMissing } from '../schemas/parents.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** Where a commit goes to. */
export interface CommitTarget extends VariantLocation {
  /** The revision that a delta was made for, if the commit names one. */
  readonly baseId: string | undefined
}

/**
 * The variant that a commit goes to: the one it names, or the default one of the artifact it names. Where payloads are rows, which
 * deltas change, the revision that a delta was made for may say which variant (interface 8.13, see `variantToWrite`).
 */
export async function commitTarget(
  { surface, names }: Pick<SurfaceContext, 'surface' | 'names'>,
  registry: Registry,
  parents: References,
  member: string,
): Promise<CommitTarget> {
  const { family } = surface
  const { artifact, variant, revision } = parents
  const isRows = surface.payload === 'rows'
  const inArtifact = artifact && (await resolveArtifact(registry, family, artifact))
  const base =
    revision && (isRows || revision.id === undefined)
      ? await resolveReference(registry, family, parents)
      : undefined
  if (base) assertRevisionActive(base)
  const place = await placeNamed()
  if (base && base.artifact.id !== place.artifact.id) {
    throw invalid(
      ['body', member, `${surface.singular}_revision_id`],
      `${idOf(base)} is a revision of ${base.artifact.slug}, which is another ${surface.singular} than the one named beside it.`,
    )
  }
  if (inArtifact && inArtifact.id !== place.artifact.id) {
    throw new Refusal(
      'contradictory_request',
      `body.${member} names the artifact ${inArtifact.id}, but its variant belongs to ${place.artifact.id}. Leave the artifact out.`,
    )
  }
  return { ...place, baseId: revision?.id ?? (base && idOf(base)) }

  async function placeNamed(): Promise<VariantLocation> {
    if (variant) return resolveVariant(registry, family, variant, artifact)
    if (base && isRows && (!inArtifact || inArtifact.id === base.artifact.id))
      return variantToWrite(base, { artifact: inArtifact })
    if (!inArtifact) throw parentMissing(names, member, '_variant')
    if (!inArtifact.defaultVariant) throw noVariantYet(inArtifact)
    return { artifact: inArtifact, variant: inArtifact.defaultVariant }
  }
}

/**
 * The variant that a write to a revision goes to, as what stands beside it says (see `variantToWrite`). Refuses a variant or an artifact that
 * is not the revision's (`contradictory_request`).
 */
export async function variantBeside(
  registry: Registry,
  place: RevisionLocation,
  { variant, artifact }: Pick<References, 'variant' | 'artifact'>,
): Promise<VariantLocation> {
  const { family } = place.artifact
  const named = {
    variant: variant && (await resolveVariant(registry, family, variant, artifact)),
    artifact: artifact && (await resolveArtifact(registry, family, artifact)),
  }
  for (const other of [named.variant?.artifact, named.artifact]) {
    if (!other || other.id === place.artifact.id) continue
    throw new Refusal(
      'contradictory_request',
      `The revision belongs to "${place.artifact.slug}", but what the request names beside it belongs to "${other.slug}". Name a variant of ` +
        `"${place.artifact.slug}".`,
    )
  }
  return variantToWrite(place, named)
}

function idOf({
  artifact,
  oid,
}: {
  readonly artifact: VariantLocation['artifact']
  readonly oid: string
}): string {
  return objectUuid(oid, artifact.digits)
}
