import type { VariantLocation } from '../../versioning/revisions/references.ts'
import { variantById } from '../../versioning/revisions/references.ts'
import type { EndpointResponse, Recall } from '../routing/endpoint.ts'
import { presentVariant } from '../presenters/record.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** Answers a variant as a surface shows it. */
export function variantResponse(
  { surface, present }: SurfaceContext,
  place: VariantLocation,
): EndpointResponse {
  return {
    body: { count: 1, [`${surface.singular}_variant`]: presentVariant(place, present) },
    address: { id: place.variant.id },
  }
}

/** The same again, from where it is. */
export function recallVariant(context: SurfaceContext): Recall<unknown> {
  return async ({ registry }, { id }) =>
    variantResponse(context, await variantById(registry, context.surface.family, id))
}
