import { z } from 'zod'
import { MOST_DEPTH, MOST_EMBEDS } from '../../registry/embeds.ts'
import { Refusal } from '../../errors.ts'
import type { Json } from '../../base/json.ts'
import { documentOf, type Family } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import { retrieveRevision } from '../../registry/revisions.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { envelope, retrieveReferences, spellings } from '../schemas/spellings.ts'
import { declare } from '../routing/known-fields.ts'
import { presentVersion } from '../revisions/record.ts'
import { resolutionInfo, retrievalInfo, warning } from '../schemas/record-schemas.ts'
import { anyJson, slug, uuid, version } from '../schemas/request-schemas.ts'
import { type EmbedOptions, DEFAULT_EMBED_OPTIONS, resolveEmbedsOf } from '../revisions/resolve-embeds.ts'
import type { RevisionResponses } from '../revisions/revision-responses.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { UNUSED_HEADER, unusedOfRevisions } from '../schemas/unused-fields.ts'

/** Whether revisions of the family can be retrieved with their embeds resolved. */
export function isResolvable({ mayEmbed, pins }: Family): boolean {
  return mayEmbed === true || pins !== undefined
}

/**
 * `POST …/revisions/resolve` of a surface (interface 10.1): a revision, stored or sent with the request, with
 * every `@svc.embed` and `@{{…}}` token replaced by its target.
 */
export function resolveEndpoint(
  { surface, names, records, present }: SurfaceContext,
  answers: RevisionResponses,
): Endpoint {
  const { family, path, singular, plural } = surface
  const key = `${singular}_revision`
  const brought = declare(
    z.object({
      id: uuid.optional(),
      slug: slug.optional(),
      version: version.optional(),
      data: anyJson.optional(),
    }),
    { unused: [...unusedOfRevisions(names), ...UNUSED_HEADER] },
  )
  const options = envelope({
    inline: { names: spellings(names, '_revision'), schema: brought },
    maxDepth: { names: ['max_depth'], schema: limit(MOST_DEPTH) },
    maxEmbeds: { names: ['max_embeds'], schema: limit(MOST_EMBEDS) },
    errorPolicy: { names: ['error_policy'], schema: z.enum(['exception', 'placeholder', 'keep']) },
  })
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/resolve`,
    tag: plural,
    summary: 'A revision, or data that the request brings, with everything it embeds in its place',
    scope: 'read',
    input: z.intersection(retrieveReferences(names), options),
    output: z.strictObject({
      count: z.literal(1),
      [key]: z.union([records.revision, inlineRecord]),
      resolution_info: resolutionInfo,
      retrieval_info: retrievalInfo(names).optional(),
      warnings: z.array(warning).optional(),
    }),
    example: {
      [`${singular}_revision_ref`]: { slug: 'support-bot', version: 3 },
      error_policy: 'placeholder',
    },
    run: async ({ registry, input, headers }) => {
      const { inline, sentAs } = input
      const embedOptions = optionsOf(input)
      if (inline) return resolveInline(registry, inline, sentAs.inline, embedOptions)
      const place = await retrieveRevision(registry, family, input, surface)
      return answers.resolve(registry, place, embedOptions, headers['if-none-match'])
    },
  })

  async function resolveInline(
    registry: Registry,
    { data, version: number, ...record }: z.infer<typeof brought>,
    member: string,
    embedOptions: EmbedOptions,
  ): Promise<EndpointResponse> {
    const { servicesBase } = registry
    const accepted = await family.accept(requiredData(data, member), {
      loc: ['body', member, 'data'],
      servicesBase,
    })
    const host = record.id === undefined ? undefined : { id: record.id, slug: record.slug ?? record.id }
    const resolved = await resolveEmbedsOf(registry, family, documentOf(accepted.payload), {
      ...embedOptions,
      host,
      versionType: present.versionType,
    })
    const shown = number === undefined ? record : { ...record, version: presentVersion(number, present) }
    return {
      body: { count: 1, [key]: { ...shown, data: resolved.data }, resolution_info: resolved.info },
    }
  }
}

/** A revision sent with the request: its description and data. */
const inlineRecord = z.strictObject({
  id: z.string().optional(),
  slug: z.string().optional(),
  version: z.union([z.int(), z.string()]).optional(),
  data: z.unknown().meta({ type: 'object' }),
})

/** Clients send 0 for the default (interface 10.1). */
function limit(most: number) {
  return z
    .number()
    .int('must be a whole number')
    .min(0, 'must not be negative')
    .max(most, `must be at most ${most}`)
}

function optionsOf(sent: {
  readonly maxDepth: number | undefined
  readonly maxEmbeds: number | undefined
  readonly errorPolicy: EmbedOptions['errorPolicy'] | undefined
}): EmbedOptions {
  const { maxDepth, maxEmbeds, errorPolicy } = DEFAULT_EMBED_OPTIONS
  return {
    maxDepth: sent.maxDepth || maxDepth,
    maxEmbeds: sent.maxEmbeds || maxEmbeds,
    errorPolicy: sent.errorPolicy ?? errorPolicy,
  }
}

function requiredData(data: Json | undefined, member: string): Json {
  if (data !== undefined) return data
  throw new Refusal(
    'missing_payload',
    `body.${member} has no data to resolve. Send data, or refer to a revision by ${member}_ref.`,
  )
}
