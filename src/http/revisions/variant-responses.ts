import { type VariantLocation, variantById } from '../../registry/revisions.ts'
import type { Warning } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import { shadowWarnings } from '../../registry/artifacts.ts'
import type { EndpointResponse, Recall } from '../routing/endpoint.ts'
import { presentVariant } from './record.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** Answers a variant as a surface shows it. */
export function variantResponse(
  { surface, present }: SurfaceContext,
  place: VariantLocation,
  warnings: readonly Warning[] = [],
): EndpointResponse {
  return {
    body: {
      count: 1,
      [`${surface.singular}_variant`]: presentVariant(place, present),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
    address: { id: place.variant.id },
  }
}

/** Answers a new variant, with warnings about its slug. */
export async function madeVariantResponse(
  context: SurfaceContext,
  registry: Registry,
  place: VariantLocation,
  own: readonly Warning[] = [],
): Promise<EndpointResponse> {
  const { artifact, variant } = place
  const made = [['variant', variant.slug]] as const
  return variantResponse(context, place, [...own, ...(await shadowWarnings(registry, artifact, made))])
}

/** Repeats the answer for a new variant. */
export function recallMadeVariant(context: SurfaceContext): Recall<unknown> {
  return async ({ registry }, { id }) =>
    madeVariantResponse(context, registry, await variantById(registry, context.surface.family, id))
}

/** Repeats the answer for a changed variant. */
export function recallVariant(context: SurfaceContext): Recall<unknown> {
  return async ({ registry }, { id }) =>
    variantResponse(context, await variantById(registry, context.surface.family, id))
}
