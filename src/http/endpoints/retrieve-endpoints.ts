import { z } from 'zod'
import type { Call, Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { dottedParameters } from '../schemas/queries/query-parameters.ts'
import { payloadPage, withReadOptions } from '../schemas/queries/read-options.ts'
import { resolutionInfo, retrievalInfo, single, warning } from '../schemas/record-schemas.ts'
import { retrieveReferences } from '../schemas/queries/retrieve-references.ts'
import type { LookBeside, RetrieveQuestion, RevisionResponses } from '../revisions/revision-responses.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { presentProvenance, provenance } from './provenance-endpoint.ts'
import { isResolvable } from './resolve-endpoint.ts'
import { archivedLevel } from '../../versioning/artifacts/change-artifact.ts'
import { provenanceOf } from '../../versioning/revisions/provenance.ts'
import { type RevisionLocation, latestOf, readListedRevision } from '../../versioning/revisions/revision.ts'
import { objectUuid } from '../../versioning/ids.ts'
import { type PresentOptions, presentShort } from '../presenters/record.ts'

/** The two forms of `…/revisions/retrieve` of a surface (interface 5.3, 2.21, 9.7). */
export function retrieveEndpoints(context: SurfaceContext, answers: RevisionResponses): Endpoint[] {
  const { surface, names, records, enrichment } = context
  const { path, singular, plural, family } = surface
  const resolvable = isResolvable(family)
  const asked: z.ZodType<Pick<RetrieveQuestion, 'resolve' | 'beside'>> = surface.isDeployable
    ? besideInput(context)
    : resolvable
      ? z.object({ resolve: z.boolean().optional() })
      : declare(z.object({}), { unused: ['resolve'] })
  const enriched: z.ZodType<Pick<RetrieveQuestion, 'enrich'>> = enrichment?.input ?? z.object({})
  const input = z.intersection(z.intersection(retrieveReferences(names), asked), enriched)
  const booleans = [
    ...(surface.isDeployable ? ['include_head', 'include_provenance'] : []),
    ...(resolvable ? ['resolve'] : []),
    ...(enrichment?.booleans ?? []),
  ]
  const body = withReadOptions(surface, { input }, { paged: true })
  const common = {
    path: `/${path}/revisions/retrieve`,
    tag: plural,
    scope: 'read',
    output: single(`${singular}_revision`, records.revision, {
      retrieval_info: retrievalInfo(names),
      ...(surface.isDeployable ? { provenance: provenance.optional() } : {}),
      warnings: z.array(warning).optional(),
      ...(resolvable ? { resolution_info: resolutionInfo.optional() } : {}),
      ...payloadPage(surface),
      ...enrichment?.output,
    }),
    run: ({ registry, input: question, headers }: Call<z.infer<typeof body.input>>) =>
      answers.retrieve(registry, question, headers['if-none-match']),
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

/** What a retrieve may be asked to answer beside the revision (interface 5.15). */
function besideInput({
  present,
  namesOf,
}: SurfaceContext): z.ZodType<Pick<RetrieveQuestion, 'resolve' | 'beside'>> {
  return z
    .object({
      resolve: z.boolean().optional(),
      include_head: z.boolean().optional().meta({
        description: 'Adds `head`, the latest revision, and what is `archived` to `retrieval_info`.',
      }),
      include_provenance: z.boolean().optional().meta({
        description: 'Adds `provenance`, as its own route answers it.',
      }),
    })
    .transform(({ resolve, include_head: withHead, include_provenance: withProvenance }) => {
      if (!withHead && !withProvenance) return { resolve }
      const beside: LookBeside = async (registry, place) => {
        const found = withProvenance && (await provenanceOf(registry, place))
        return {
          info: withHead ? await standingOf(place, present) : {},
          own: found ? { provenance: presentProvenance(found, present, namesOf(registry)) } : {},
        }
      }
      return { resolve, beside }
    })
}

/** The latest revision of the variant, and the outermost of what is archived. */
async function standingOf(
  { artifact, variant, oid }: RevisionLocation,
  present: PresentOptions,
): Promise<object> {
  const latest = await latestOf(artifact, variant)
  const archived = archivedLevel(artifact, variant, objectUuid(oid, artifact.digits))
  return {
    ...(latest ? { head: presentShort(await readListedRevision(latest), present) } : {}),
    ...(archived === undefined ? {} : { archived }),
  }
}
