import { z } from 'zod'
import {
  type ArchiveAction,
  archiveVariant,
  editVariant,
  queryVariants,
  createVariant,
} from '../../registry/artifacts.ts'
import { type VariantLocation, resolveArtifact } from '../../registry/revisions.ts'
import { presentVariant } from '../revisions/record.ts'
import {
  madeVariantResponse,
  recallMadeVariant,
  recallVariant,
  variantResponse,
} from '../revisions/variant-responses.ts'
import {
  type EndpointResponse,
  type Endpoint,
  assertSameId,
  endpoint,
  named,
  variantInPath,
} from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { respondWithList } from '../routing/send.ts'
import { apart, assertBelongs, assertComesBack, comingBack } from '../schemas/coming-back.ts'
import {
  envelope,
  parentFields,
  parentMissing,
  parentsBeside,
  parentsOf,
  spellings,
} from '../schemas/spellings.ts'
import { queryInput, queryOf } from '../schemas/queries/query-input.ts'
import { orderedList, single, warning } from '../schemas/record-schemas.ts'
import { header, headerEdit, slug, uuid } from '../schemas/request-schemas.ts'
import { flagsNamed } from '../schemas/role-fields.ts'
import { ofVariants } from '../schemas/unused-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { forkEndpoint } from './fork-endpoints.ts'

/** The routes of a surface at the variant level (interface 1.3, 4.22). */
export function variantEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records, isExisting } = context
  const { family, path, singular } = surface
  const key = `${singular}_variant`
  const output = single(key, records.variant)
  const madeOutput = single(key, records.variant, { warnings: z.array(warning).optional() })
  const tag = surface.plural
  const answer = (place: VariantLocation): EndpointResponse => variantResponse(context, place)
  const recall = recallVariant(context)
  const flags = flagsNamed([], [...family.roles, ...family.flagNames])
  const { unused, fixed } = ofVariants(names)
  const slugsOfParents = fixed.filter((name) => name.endsWith('_slug'))

  const archiving = (action: ArchiveAction): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/${path}/variants/:id/${action}`,
      ...named,
      tag,
      summary: action === 'archive' ? 'Archive the variant, hiding its revisions' : 'Bring the variant back',
      scope: 'write',
      output,
      run: async ({ registry, params, context: write }) =>
        answer(await archiveVariant(registry, await variantInPath(registry, family, params), action, write)),
      recall,
    })

  return [
    endpoint({
      method: 'POST',
      path: `/${path}/variants`,
      tag,
      summary: 'Create a variant without revisions; the first one becomes the default',
      scope: 'write',
      input: envelope({
        variant: {
          names: spellings(names, '_variant'),
          schema: declare(
            z.object({
              ...parentFields(names, ['']),
              slug: slug.optional(),
              ...header,
              flags: flags.optional(),
              ...comingBack(slugsOfParents),
            }),
            { unused, fixed: fixed.filter((name) => !slugsOfParents.includes(name)) },
          ),
          required: true,
        },
        artifactRef: parentsBeside(names).artifactRef,
      }),
      output: madeOutput,
      example: {
        [key]: { [`${singular}_ref`]: { slug: 'support-bot' }, slug: 'experiment', name: 'Experiment' },
      },
      run: async ({ registry, input, context: write }) => {
        const { slug: chosen, ...rest } = input.variant
        const parent = parentsOf(names, input.variant, input).artifact
        if (!parent) throw parentMissing(names, input.sentAs.variant, '')
        const artifact = await resolveArtifact(registry, family, parent)
        const loc = ['body', input.sentAs.variant, 'slug']
        assertBelongs(context, { artifact }, rest, input.sentAs.variant)
        const { name, description, tags, meta } = rest
        const place = await createVariant(
          registry,
          artifact,
          { slug: chosen, header: { name, description, tags, meta }, loc },
          write,
        )
        return madeVariantResponse(context, registry, place)
      },
      recall: recallMadeVariant(context),
    }),
    forkEndpoint(context, `/${path}/variants/fork`),
    endpoint({
      method: 'POST',
      path: `/${path}/variants/query`,
      tag,
      summary: 'List variants by filters',
      scope: 'read',
      optionalBody: true,
      ...queryInput(names, 'variant', family),
      output: orderedList(`${key}s`, records.variant),
      example: { [`${singular}_refs`]: [{ slug: 'support-bot' }] },
      run: async (call) => {
        const { registry, input } = call
        const window = await queryVariants(registry, family, await queryOf(call, context, 'variant'))
        const records = window.rows.map((place) => presentVariant(place, present))
        return respondWithList(`${key}s`, window, input.windowing, records)
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${path}/variants/:id`,
      ...named,
      tag,
      summary: 'The variant of this id, archived or not',
      scope: 'read',
      output,
      run: async ({ registry, params }) => answer(await variantInPath(registry, family, params)),
    }),
    endpoint({
      method: 'PUT',
      path: `/${path}/variants/:id`,
      ...named,
      tag,
      summary: 'Edit name, description, tags or meta; a field left out keeps its value, null clears it',
      scope: 'write',
      keepNulls: true,
      input: envelope({
        variant: {
          names: spellings(names, '_variant'),
          schema: declare(
            z.object({
              id: uuid.optional(),
              ...headerEdit,
              flags: flags.nullish(),
              ...comingBack(['slug', ...fixed]),
            }),
            { unused },
          ),
          required: true,
        },
      }),
      output,
      example: { [key]: { description: 'Warmer tone' } },
      run: async ({ registry, params, input, context: write }) => {
        const { id, name, description, tags, meta } = input.variant
        const place = await variantInPath(registry, family, params)
        assertSameId(place.variant.id, id)
        const loc = ['body', input.sentAs.variant]
        const { fixed: back } = apart(input.variant, ['slug', ...ofVariants(names).own])
        assertComesBack(back, { ...presentVariant(place, present) }, { loc, isExisting })
        assertBelongs(context, { artifact: place.artifact }, input.variant, input.sentAs.variant)
        return answer(
          await editVariant(registry, place, definedOnly({ name, description, tags, meta }), write),
        )
      },
    }),
    archiving('archive'),
    archiving('unarchive'),
  ]
}

function definedOnly<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}
