import { z } from 'zod'
import { disagreementsWith, variantById, resolveReference } from '../../registry/revisions.ts'
import type { Warning } from '../../registry/families.ts'
import type { References, Registry } from '../../registry/registries.ts'
import { forkVariant } from '../../registry/artifacts.ts'
import { type Call, type Endpoint, type EndpointResponse, endpoint } from '../routing/endpoint.ts'
import { assertBelongs, comingBack } from '../schemas/coming-back.ts'
import { envelope, parentsOf, idSpellings, spellings } from '../schemas/spellings.ts'
import { declare } from '../routing/known-fields.ts'
import { told, wordsOf } from '../routing/answers.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { single, warning } from '../schemas/record-schemas.ts'
import { header, reference, slug, uuid } from '../schemas/request-schemas.ts'
import { flagsNamed } from '../schemas/role-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { ofVariants } from '../schemas/unused-fields.ts'
import { toldDisagreements } from '../revisions/told-disagreements.ts'
import { madeVariantResponse } from '../revisions/variant-responses.ts'

/** `POST …/variants/fork` of a surface (interface 4.22). */
export function forkEndpoint(surfaceContext: SurfaceContext, path: string): Endpoint {
  const { surface, names, records, present } = surfaceContext
  const { family, singular } = surface
  const key = `${singular}_variant`
  const { unused, own, fixed } = ofVariants(names)
  const parents = fixed.filter((name) => !own.includes(name))

  const disagreeing = async (registry: Registry, source: References): Promise<readonly Warning[]> => {
    const begin = await resolveReference(registry, family, source)
    return toldDisagreements(await disagreementsWith(registry, source, begin), singular, present)
  }

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
            ...comingBack(parents),
          }),
          { unused, fixed: own },
        ),
        required: true,
      },
      artifactRef: { names: spellings(names, '_ref'), schema: reference },
      variantRef: { names: spellings(names, '_variant_ref'), schema: reference },
      // Existing clients send it in the query string (interface 4.22).
      variantId: { names: idSpellings(names, '_variant'), schema: uuid },
      revisionRef: { names: spellings(names, '_revision_ref'), schema: reference },
    }),
    fromQuery: queryParameters(idSpellings(names, '_variant')),
    output: single(key, records.variant, { warnings: z.array(warning).optional() }),
    example: {
      [key]: { slug: 'support-bot-warm', name: 'Warmer tone' },
      [`${singular}_variant_ref`]: { slug: 'support-bot' },
      [`${singular}_revision_ref`]: { version: 2 },
    },
    run: async ({ registry, input, context }) => {
      const { slug: chosen, name, description, tags, meta } = input.variant
      const source = parentsOf(names, {}, input)
      const warnings = await disagreeing(registry, source)
      const loc = ['body', input.sentAs.variant, 'slug']
      const place = await forkVariant(
        registry,
        family,
        source,
        { slug: chosen, header: { name, description, tags, meta }, loc },
        context,
        ({ artifact }) => assertBelongs(surfaceContext, { artifact }, input.variant, input.sentAs.variant),
      )
      return madeVariantResponse(surfaceContext, registry, place, warnings)
    },
    recall: async ({ registry, input }, { id }) => {
      const warnings = await disagreeing(registry, parentsOf(names, {}, input))
      return madeVariantResponse(surfaceContext, registry, await variantById(registry, family, id), warnings)
    },
  })
}

/**
 * `POST /variants/fork`, which accepts the keys of any surface and answers in the words of the first one that
 * the body names (interface 2.8).
 */
export function sharedForkEndpoint(contexts: readonly SurfaceContext[]): Endpoint {
  const all = contexts.map((context) => ({
    family: context.surface.family,
    key: `${context.surface.singular}_variant`,
    endpoint: { ...forkEndpoint(context, '/variants/fork'), words: wordsOf(context) },
  }))
  // The surfaces of one family take the same keys.
  const forks = all.filter(({ family }, index) => all.findIndex((it) => it.family === family) === index)
  const [first] = forks
  if (!first) throw new Error('there is no surface to fork on')
  const input = z.unknown().transform((body, context) => {
    const fork = (all.find(({ key }) => Object.hasOwn(body as object, key)) ?? first).endpoint
    const parsed = fork.input?.safeParse(body)
    for (const issue of parsed?.error?.issues ?? []) context.addIssue({ ...issue, code: 'custom' })
    // An invalid input never reaches the endpoint.
    return { fork, input: parsed?.data as never }
  })
  return endpoint({
    ...first.endpoint,
    input: declare(input, { anyOf: forks.flatMap(({ endpoint: { input: of } }) => of ?? []) }).meta({
      /** Built on demand, to keep the start fast. */
      get anyOf() {
        return forks.map(
          ({ endpoint: { input: of } }) => of && z.toJSONSchema(of, { io: 'input', unrepresentable: 'any' }),
        )
      },
    }),
    output: z.union(all.map((fork) => fork.endpoint.output)),
    run: (call) => inWordsOfFork(call, ({ fork, input }) => fork.run({ ...call, input })),
    recall: (call, address) =>
      inWordsOfFork(call, ({ fork, input }) => {
        if (!fork.recall) throw new Error('a fork can be recalled')
        return fork.recall({ ...call, input }, address)
      }),
  })
}

/** Runs a fork; a refusal uses the words of its surface. */
async function inWordsOfFork(
  call: Call<ForkOfSurface>,
  answer: (asked: ForkOfSurface) => EndpointResponse | Promise<EndpointResponse>,
): Promise<EndpointResponse> {
  try {
    return await answer(call.input)
  } catch (error) {
    throw await told(call.input.fork, call, error)
  }
}

/** The surface's fork that a body selects, and its parsed input. */
interface ForkOfSurface {
  readonly fork: Endpoint
  readonly input: never
}
