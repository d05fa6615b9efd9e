import { invalid, Refusal } from '../errors.ts'
import { assertRevisionActive } from '../versioning/assert-active.ts'
import { artifactById, revisionById, variantById, variantNotFound } from '../versioning/references.ts'
import type { VariantPlace } from '../versioning/references.ts'
import type { Registry } from '../versioning/registry.ts'
import { requiredId } from './endpoints/variant-endpoints.ts'
import { firstOf } from './envelope.ts'
import { idSpellings } from './surface-names.ts'
import type { SurfaceContext } from './surface-context.ts'

/**
 * The variant that a commit goes to: the one it names. Where payloads are rows, which deltas change, the revision that a delta
 * was made for or the testset may stand for it (ruling 5.4): the variant of that revision, the default variant of that testset.
 */
export async function commitPlace(
  { surface, names }: Pick<SurfaceContext, 'surface' | 'names'>,
  registry: Registry,
  fields: Readonly<Record<string, unknown>>,
  member: string,
): Promise<VariantPlace> {
  const { family } = surface
  const variantIds = idSpellings(names, '_variant')
  const artifactId = firstOf<string>(fields, idSpellings(names, ''))
  const place = await placeNamed()
  if (artifactId !== undefined && artifactId !== place.artifact.id) {
    throw new Refusal(
      'contradictory_request',
      `body.${member} names the artifact ${artifactId}, but its variant belongs to ${place.artifact.id}. Leave the artifact's id out.`,
    )
  }
  return place

  async function placeNamed(): Promise<VariantPlace> {
    const variantId = firstOf<string>(fields, variantIds)
    const baseId =
      surface.payload === 'rows' ? firstOf<string>(fields, idSpellings(names, '_revision')) : undefined
    const base = baseId === undefined ? undefined : await revisionById(registry, family, baseId)
    if (base) assertRevisionActive(base)
    const named = variantId === undefined ? base : await variantById(registry, family, variantId)
    if (base && base.artifact.id !== (artifactId ?? named?.artifact.id)) {
      throw invalid(
        ['body', member, idSpellings(names, '_revision')[0] ?? 'id'],
        `${baseId} is a revision of ${base.artifact.slug}, which is another ${surface.singular} than the one named beside it.`,
      )
    }
    if (named) return named
    if (surface.payload !== 'rows' || artifactId === undefined)
      return variantById(registry, family, requiredId(fields, variantIds, member))
    const artifact = await artifactById(registry, family, artifactId)
    const variant = artifact.defaultVariant ?? variantNotFound(family, `on "${artifact.slug}" yet`)
    return { artifact, variant }
  }
}

/** A commit with the id of the variant that is named beside it, if one is; the two must agree. */
export function withVariant<T extends Readonly<Record<string, unknown>>>(
  fields: T,
  variantIds: readonly string[],
  beside: string | undefined,
): T {
  const named = firstOf<string>(fields, variantIds)
  if (beside === undefined || named === beside) return fields
  if (named === undefined) return { ...fields, [variantIds[0] ?? 'variant_id']: beside }
  throw new Refusal(
    'contradictory_request',
    `The commit names the variant ${named}, and the request beside it ${beside}. Send one of them.`,
  )
}
