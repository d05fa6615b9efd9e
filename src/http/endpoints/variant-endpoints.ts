import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import type { ArchiveAction } from '../../versioning/archive.ts'
import { archiveVariant } from '../../versioning/archive.ts'
import { createVariant } from '../../versioning/create-variant.ts'
import { editVariant } from '../../versioning/edit-artifact.ts'
import { forkVariant } from '../../versioning/fork-variant.ts'
import { queryVariants } from '../../versioning/query-artifacts.ts'
import type { Reference, VariantPlace } from '../../versioning/references.ts'
import { artifactById, variantById } from '../../versioning/references.ts'
import { answerList } from '../answer-list.ts'
import type { Answer, Endpoint, Recall } from '../endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { envelope, firstOf } from '../envelope.ts'
import { declare } from '../known-fields.ts'
import { assertSameId, named, variantIn } from '../path-id.ts'
import { presentVariant } from '../present.ts'
import { queryInput, queryOf } from '../query-input.ts'
import { queryParameters } from '../query-parameters.ts'
import { list, single } from '../record-schemas.ts'
import { header, headerEdit, reference, slug, uuid } from '../request-schemas.ts'
import { flagsNamed } from '../role-fields.ts'
import { idSpellings, spellings } from '../surface-names.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { unusedOfVariants } from '../unused-fields.ts'

/** The routes of a surface at the variant level (contract/workflows 4.2, interface 4.5). */
export function variantEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records } = context
  const { family, path, singular } = surface
  const key = `${singular}_variant`
  const output = single(key, records.variant)
  const tag = surface.plural
  const answer = (place: VariantPlace): Answer => answerVariant(context, place)
  const recall = recallVariant(context)
  const parentIds = idSpellings(names, '')
  const flags = flagsNamed([], [...family.roles, ...family.flagNames])

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
        answer(await archiveVariant(registry, await variantIn(registry, family, params), action, write)),
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
              ...optionalIds(parentIds),
              slug: slug.optional(),
              ...header,
              flags: flags.optional(),
            }),
            { unused: unusedOfVariants(names) },
          ),
          required: true,
        },
      }),
      output,
      example: { [key]: { [`${singular}_id`]: EXAMPLE_ID, slug: 'experiment', name: 'Experiment' } },
      run: async ({ registry, input, context: write }) => {
        const { slug: chosen, ...rest } = input.variant
        const id = requiredId(input.variant, parentIds, input.sentAs.variant)
        const artifact = await artifactById(registry, family, id)
        const loc = ['body', input.sentAs.variant, 'slug']
        const { name, description, tags, meta } = rest
        return answer(
          await createVariant(
            registry,
            artifact,
            { slug: chosen, header: { name, description, tags, meta }, loc },
            write,
          ),
        )
      },
      recall,
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
      output: list(`${key}s`, records.variant),
      example: { [`${singular}_refs`]: [{ slug: 'support-bot' }] },
      run: async ({ registry, input }) => {
        const window = await queryVariants(registry, family, queryOf(input, surface))
        const records = window.rows.map((place) => presentVariant(place, present))
        return answerList(`${key}s`, window, input.windowing, records)
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
      run: async ({ registry, params }) => answer(await variantIn(registry, family, params)),
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
          schema: declare(z.object({ id: uuid.optional(), ...headerEdit, flags: flags.nullish() }), {
            unused: [...unusedOfVariants(names), 'slug'],
          }),
          required: true,
        },
      }),
      output,
      example: { [key]: { description: 'Warmer tone' } },
      run: async ({ registry, params, input, context: write }) => {
        const { id, name, description, tags, meta } = input.variant
        const place = await variantIn(registry, family, params)
        assertSameId(place.variant.id, id)
        return answer(
          await editVariant(registry, place, definedOnly({ name, description, tags, meta }), write),
        )
      },
    }),
    archiving('archive'),
    archiving('unarchive'),
  ]
}

/** `POST …/variants/fork` of a surface (interface 4.5, ruling 3.9). */
export function forkEndpoint(surfaceContext: SurfaceContext, path: string): Endpoint {
  const { surface, names, records } = surfaceContext
  const { family, singular } = surface
  const key = `${singular}_variant`
  return endpoint({
    method: 'POST',
    path,
    tag: surface.plural,
    summary:
      'Fork: a new variant that begins at an existing revision (default: the latest of the variant named)',
    scope: 'write',
    input: envelope({
      variant: {
        names: spellings(names, '_variant'),
        schema: declare(
          z.object({
            slug: slug.optional(),
            ...header,
            flags: flagsNamed([], [...family.roles, ...family.flagNames]).optional(),
          }),
          { unused: unusedOfVariants(names) },
        ),
        required: true,
      },
      artifactRef: { names: spellings(names, '_ref'), schema: reference },
      variantRef: { names: spellings(names, '_variant_ref'), schema: reference },
      // Existing clients say it in the query string (contract/workflows 8).
      variantId: { names: idSpellings(names, '_variant'), schema: uuid },
      revisionRef: { names: spellings(names, '_revision_ref'), schema: reference },
    }),
    fromQuery: queryParameters(idSpellings(names, '_variant')),
    output: single(key, records.variant),
    example: {
      [key]: { slug: 'support-bot-warm', name: 'Warmer tone' },
      [`${singular}_variant_ref`]: { slug: 'support-bot' },
      [`${singular}_revision_ref`]: { version: 2 },
    },
    run: async ({ registry, input, context }) => {
      const { slug: chosen, name, description, tags, meta } = input.variant
      const source = {
        artifact: input.artifactRef,
        variant: sameVariant(input.variantRef, input.variantId),
        revision: input.revisionRef,
      }
      const loc = ['body', input.sentAs.variant, 'slug']
      const place = await forkVariant(
        registry,
        family,
        source,
        { slug: chosen, header: { name, description, tags, meta }, loc },
        context,
      )
      return answerVariant(surfaceContext, place)
    },
    recall: recallVariant(surfaceContext),
  })
}

/** `POST /variants/fork`, which takes the keys of any family (ruling 2): those of the first one that the body names. */
export function sharedForkEndpoint(contexts: readonly SurfaceContext[]): Endpoint {
  const forks = contexts.map((context) => ({
    names: spellings(context.names, '_variant'),
    endpoint: forkEndpoint(context, '/variants/fork'),
  }))
  const [first] = forks
  if (!first) throw new Error('there is no surface to fork on')
  const input = z.unknown().transform((body, context) => {
    const named = (names: readonly string[]) => names.some((name) => Object.hasOwn(body as object, name))
    const fork = (forks.find(({ names }) => named(names)) ?? first).endpoint
    const parsed = fork.input?.safeParse(body)
    for (const issue of parsed?.error?.issues ?? []) context.addIssue({ ...issue, code: 'custom' })
    // A refused input never gets further.
    return { fork, input: parsed?.data as never }
  })
  return endpoint({
    ...first.endpoint,
    input: declare(input, { anyOf: forks.flatMap(({ endpoint: { input: of } }) => of ?? []) }).meta({
      anyOf: forks.map(
        ({ endpoint: { input: of } }) => of && z.toJSONSchema(of, { io: 'input', unrepresentable: 'any' }),
      ),
    }),
    output: z.union(forks.map((fork) => fork.endpoint.output)),
    run: (call) => call.input.fork.run({ ...call, input: call.input.input } as never),
    recall: (call, address) => {
      const { fork } = call.input
      if (!fork.recall) throw new Error('a fork can be recalled')
      return fork.recall({ ...call, input: call.input.input } as never, address)
    },
  })
}

/** The variant that a reference and an id beside it mean. */
function sameVariant(ref: Reference | undefined, id: string | undefined): Reference | undefined {
  if (id === undefined) return ref
  if (ref?.id === undefined || ref.id === id) return { ...ref, id }
  throw new Refusal(
    'contradictory_request',
    `The reference names the variant ${ref.id}, and the id beside it ${id}. Send one of them.`,
  )
}

function answerVariant({ surface, present }: SurfaceContext, place: VariantPlace): Answer {
  return {
    body: { count: 1, [`${surface.singular}_variant`]: presentVariant(place, present) },
    address: { id: place.variant.id },
  }
}

function recallVariant(context: SurfaceContext): Recall<unknown> {
  return async ({ registry }, { id }) =>
    answerVariant(context, await variantById(registry, context.surface.family, id))
}

/** An id as examples show it. */
export const EXAMPLE_ID = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** The spellings of a parent's id as optional fields. */
export function optionalIds(names: readonly string[]): Record<string, z.ZodOptional<typeof uuid>> {
  return Object.fromEntries(names.map((name) => [name, uuid.optional()]))
}

/** The parent id under any spelling; refuses its absence by the surface's own name for it. */
export function requiredId(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
  member: string,
): string {
  const id = firstOf<string>(record, names)
  if (id !== undefined) return id
  const loc = ['body', member, names[0] ?? 'id']
  const msg = 'this field is required: send the id of the parent'
  throw new Refusal('invalid_request', `${loc.join('.')}: ${msg}.`, {
    errors: [{ loc, msg, type: 'missing' }],
  })
}

function definedOnly<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}
