import { z } from 'zod'
import type { Call, Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { dottedParameters } from '../schemas/queries/query-parameters.ts'
import { payloadPage, withReadOptions } from '../schemas/queries/read-options.ts'
import { resolutionInfo, retrievalInfo, single, warning } from '../schemas/record-schemas.ts'
import { retrieveReferences } from '../schemas/queries/retrieve-references.ts'
import type { RetrieveQuestion, RevisionResponses } from '../revisions/revision-responses.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { isResolvable } from './resolve-endpoint.ts'

/** The two forms of `…/revisions/retrieve` of a surface (interface 5.3, 2.21, 9.7). */
export function retrieveEndpoints(
  { surface, names, records, enrichment }: SurfaceContext,
  answers: RevisionResponses,
): Endpoint[] {
  const { path, singular, plural, family } = surface
  const resolvable = isResolvable(family)
  const resolve: z.ZodType<Pick<RetrieveQuestion, 'resolve'>> = resolvable
    ? z.object({ resolve: z.boolean().optional() })
    : declare(z.object({}), { unused: ['resolve'] })
  const enriched: z.ZodType<Pick<RetrieveQuestion, 'enrich'>> = enrichment?.input ?? z.object({})
  const input = z.intersection(z.intersection(retrieveReferences(names), resolve), enriched)
  const booleans = [...(resolvable ? ['resolve'] : []), ...(enrichment?.booleans ?? [])]
  const body = withReadOptions(surface, { input }, { paged: true })
  const common = {
    path: `/${path}/revisions/retrieve`,
    tag: plural,
    scope: 'read',
    output: single(`${singular}_revision`, records.revision, {
      retrieval_info: retrievalInfo(names),
      warnings: z.array(warning).optional(),
      ...(resolvable ? { resolution_info: resolutionInfo.optional() } : {}),
      ...payloadPage(surface),
      ...enrichment?.output,
    }),
    run: ({ registry, input: question, ifNoneMatch }: Call<z.infer<typeof body.input>>) =>
      answers.retrieve(registry, question, ifNoneMatch),
  } as const
  return [
    endpoint({
      ...common,
      ...body,
      method: 'POST',
      summary:
        'The revision that references name; the most specific wins: revision, variant, environment, artifact',
      optionalBody: true,
      example: { [`${singular}_variant_ref`]: { slug: 'support-bot' } },
    }),
    endpoint({
      ...common,
      ...withReadOptions(surface, { input, fromQuery: dottedParameters(booleans) }, { paged: true }),
      method: 'GET',
      summary: `The same with dotted parameters: ?${singular}_variant_ref.slug=support-bot`,
    }),
  ]
}
