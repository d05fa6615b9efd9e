import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import { type ArchiveAction, archiveRevision, archivedLevel } from '../../registry/artifacts.ts'
import {
  queryRevisions,
  revisionById,
  resolveReference,
  resolveArtifact,
  resolveVariant,
  diffRevisions,
  provenanceOf,
  type RevisionLocation,
  latestOf,
  readListedRevision,
  type RetrieveReferences,
  retrieveRevision,
} from '../../registry/revisions.ts'
import { RevisionResponses, type LookBeside, type RetrieveQuestion } from '../revisions/revision-responses.ts'
import {
  type EndpointResponse,
  type Call,
  type Endpoint,
  endpoint,
  named,
  revisionIn,
} from '../routing/endpoint.ts'
import { envelope, retrieveReferences, withArticle } from '../schemas/spellings.ts'
import { queryInput, queryOf } from '../schemas/queries/query-input.ts'
import { payloadPage, withReadOptions } from '../schemas/queries/read-options.ts'
import {
  orderedList,
  single,
  documentDiff,
  pageInfo,
  rowDiff,
  rowsPageInfo,
  resolutionInfo,
  retrievalInfo,
  warning,
  shortRevision,
  list,
  revisionReferencesSchema,
} from '../schemas/record-schemas.ts'
import { countedWindowing, pageWindowing, reference, windowing } from '../schemas/request-schemas.ts'
import { commitEndpoints } from './commit-endpoint.ts'
import { deployEndpoint } from './deploy-endpoint.ts'
import { blameEndpoint } from './blame-endpoint.ts'
import { fileEndpoints } from './file-endpoints.ts'
import { listRevisions, logEndpoint } from './log-endpoint.ts'
import { mergeEndpoints } from './merge-endpoints.ts'
import { provenanceEndpoint, presentProvenance, provenance } from './provenance-endpoint.ts'
import { isResolvable, resolveEndpoint } from './resolve-endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { dottedParameters } from '../schemas/queries/query-parameters.ts'
import { objectUuid, type Registry } from '../../registry/registries.ts'
import { type PresentOptions, presentShort, presentReferences } from '../revisions/record.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { type SideReference, findSide, revisionOfSide, compareSides } from '../../registry/merge.ts'
import { side } from '../revisions/merge-fields.ts'
import { type DependencyTarget, type Dependent, queryDependents } from '../../registry/embeds.ts'
import type { Surface } from '../../registry/families.ts'
import { respondWithList } from '../routing/send.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** The routes of a surface at the revision level (interface 4.3, 4.20, 5.2, 1.3). */
export function revisionEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records } = context
  const { family, path, singular } = surface
  const key = `${singular}_revision`
  const tag = surface.plural
  const answers = new RevisionResponses(surface, present)

  const recall = async ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<EndpointResponse> =>
    answers.fresh(await revisionById(registry, family, id))

  const archiving = (action: ArchiveAction): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/:id/${action}`,
      ...named,
      tag,
      summary:
        action === 'archive'
          ? 'Archive the revision: hidden from queries and from "latest", for ever resolvable by id and version'
          : 'Bring the revision back',
      scope: 'write',
      output: single(key, records.revision),
      run: async ({ registry, params, context }) => {
        const place = await revisionIn(registry, family, params)
        return answers.fresh(await archiveRevision(registry, place, action, context))
      },
      recall,
    })

  const answerRevisions = listRevisions(context)
  return [
    ...retrieveEndpoints(context, answers),
    ...(isResolvable(family) ? [resolveEndpoint(context, answers)] : []),
    ...(surface.isDeployable ? [deployEndpoint(context, answers)] : []),
    ...commitEndpoints(context, answers),
    logEndpoint(context, answerRevisions),
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/query`,
      tag,
      summary: 'List revisions by filters',
      scope: 'read',
      optionalBody: true,
      ...withReadOptions(surface, queryInput(names, 'revision', family)),
      output: orderedList(`${key}s`, records.revision),
      example: { [key]: { message: 'cooler' }, [`${singular}_refs`]: [{ slug: 'support-bot' }] },
      run: async (call) => {
        const { registry, input } = call
        const signal = call.untilGone()
        const query = await queryOf(call, context, 'revision')
        const window = await queryRevisions(registry, family, { ...query, signal })
        return answerRevisions(registry, window, { ...input, signal }, true)
      },
    }),
    diffEndpoint(surface),
    ...mergeEndpoints(context, answers),
    compareEndpoint(context),
    dependentsEndpoint(context),
    endpoint({
      method: 'GET',
      path: `/${path}/revisions/:id`,
      ...named,
      tag,
      summary: 'The revision of this id, archived or not, for ever the same',
      scope: 'read',
      ...withReadOptions(surface, { input: z.object({}) }, { paged: true }),
      output: single(key, records.revision, payloadPage(surface)),
      run: async ({ registry, params, input, headers }) => {
        const place = await revisionIn(registry, family, params)
        return answers.read(place, input.asked, headers['if-none-match'])
      },
    }),
    provenanceEndpoint(context),
    ...fileEndpoints(context),
    blameEndpoint(context),
    archiving('archive'),
    archiving('unarchive'),
  ]
}

/** `POST …/revisions/diff` of a surface: a patch and text diffs of documents, pages of rows (interface 6.1, 8.24). */
function diffEndpoint({ family, path, plural, payload }: Surface): Endpoint {
  const isRows = payload === 'rows'
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/diff`,
    tag: plural,
    summary: isRows
      ? 'Which rows and columns changed between two revisions, joined on dedup ids'
      : 'What changed between two revisions: an RFC 6902 patch, and a text diff of each file',
    scope: 'read',
    input: envelope({
      base: { names: ['base'], schema: reference, required: true },
      head: { names: ['head'], schema: reference, required: true },
      windowing: { names: ['windowing'], schema: isRows ? countedWindowing : pageWindowing },
    }),
    output: z.strictObject({
      count: z.literal(1),
      diff: isRows ? rowDiff : documentDiff,
      ...(isRows ? { total: z.int().min(0).optional(), windowing: rowsPageInfo.optional() } : {}),
    }),
    example: { base: { slug: 'support-bot', version: 1 }, head: { slug: 'support-bot', version: 2 } },
    run: async ({ registry, input, untilGone }) => {
      const base = await resolveReference(registry, family, { revision: input.base })
      const head = await resolveReference(registry, family, { revision: input.head })
      const asked = { windowing: input.windowing, signal: untilGone() }
      return { body: { count: 1, ...(await diffRevisions(base, head, asked)) } }
    },
  })
}

/** The two forms of `…/revisions/retrieve` of a surface (interface 5.3, 2.21, 9.7). */
function retrieveEndpoints(context: SurfaceContext, answers: RevisionResponses): Endpoint[] {
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

/** Further data that a retrieve may return besides the revision (interface 5.15). */
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

/** The latest revision of the variant, and the outermost archived level. */
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

const MAX_REVISIONS_PER_SIDE = 1000

/** `POST …/variants/compare` of a surface: how far two sides have diverged, and what the head changed since then (interface 6.4). */
export function compareEndpoint({ surface, present }: SurfaceContext): Endpoint {
  const { family, path, plural, payload } = surface
  const isRows = payload === 'rows'
  return endpoint({
    method: 'POST',
    path: `/${path}/variants/compare`,
    tag: plural,
    summary: 'How far two sides have gone since they parted, and what the head changed since then',
    scope: 'read',
    input: envelope({
      base: { names: ['base'], schema: side, required: true },
      head: { names: ['head'], schema: side, required: true },
      windowing: { names: ['windowing'], schema: pageWindowing },
    }),
    output: z.strictObject({
      count: z.literal(1),
      compare: z.strictObject({
        merge_base: shortRevision.nullable(),
        ahead: z.int().min(0),
        behind: z.int().min(0),
        ahead_revisions: z.array(shortRevision),
        behind_revisions: z.array(shortRevision),
        truncated: z.literal(true).optional(),
        diff: isRows ? rowDiff : documentDiff,
      }),
      ...(isRows ? { windowing: pageInfo.optional() } : {}),
    }),
    example: {
      base: { variant: { slug: 'support-bot' } },
      head: { variant: { slug: 'support-bot-warm' } },
    },
    run: async ({ registry, input, untilGone }) => {
      const placeOf = async (reference: SideReference): Promise<RevisionLocation> =>
        revisionOfSide(registry, family, await findSide(registry, family, reference, surface))
      const shown = (places: readonly RevisionLocation[]): Promise<object[]> =>
        new TimeSlice(untilGone()).map(places.slice(0, MAX_REVISIONS_PER_SIDE), (place) => shortOf(place))
      const shortOf = async (place: RevisionLocation): Promise<object> =>
        presentShort(await readListedRevision(place), present)
      const [base, head] = [await placeOf(input.base), await placeOf(input.head)]
      const asked = { windowing: input.windowing, signal: untilGone() }
      const compared = await compareSides(base, head, asked)
      const { ahead, behind, diff, windowing } = compared
      return {
        body: {
          count: 1,
          compare: {
            merge_base: compared.base ? await shortOf(compared.base) : null,
            ahead: ahead.length,
            behind: behind.length,
            ahead_revisions: await shown(ahead),
            behind_revisions: await shown(behind),
            ...(Math.max(ahead.length, behind.length) > MAX_REVISIONS_PER_SIDE && { truncated: true }),
            diff,
          },
          windowing,
        },
      }
    },
  })
}

/**
 * `POST …/revisions/dependents` of a surface: what embeds or deploys a revision, a variant or an artifact. Clients
 * check this before they change or archive it.
 */
export function dependentsEndpoint({ surface, names, present }: SurfaceContext): Endpoint {
  const { path, singular, plural } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/dependents`,
    tag: plural,
    summary: `What embeds or deploys a revision, a variant or ${withArticle(singular)} now`,
    scope: 'read',
    input: z.intersection(
      retrieveReferences(names),
      z.object({ include_archived: z.boolean().optional(), windowing: windowing.optional() }),
    ),
    output: list('dependents', dependentRecord),
    example: { [`${singular}_ref`]: { slug: 'tone' } },
    run: async ({ registry, input, untilGone }) => {
      const target = await targetOf(registry, surface, input)
      const { include_archived: includeArchived, windowing: asked } = input
      const query = { includeArchived, windowing: asked, signal: untilGone() }
      const window = await queryDependents(registry, target, query)
      return respondWithList(
        'dependents',
        window,
        input.windowing,
        window.rows.map((dependent) => presentDependent(dependent, present)),
      )
    },
  })
}

/** A revision that depends on the target. */
const dependentRecord = z.strictObject({
  kind: z.enum(['embed', 'deployment']),
  ...revisionReferencesSchema('workflow'),
  ...revisionReferencesSchema('environment'),
  // Paths in its data.
  locations: z.array(z.array(z.union([z.string(), z.int()]))).optional(),
  keys: z.array(z.string()).optional(),
})

/** The target: an artifact, a variant or a revision, whichever the references name most specifically. */
async function targetOf(
  registry: Registry,
  surface: Surface,
  references: RetrieveReferences,
): Promise<DependencyTarget> {
  const { family } = surface
  const { artifact, variant, revision, environment, key } = references
  // A key without an environment goes to the retrieve below, which refuses it.
  const mayBeWhole = !revision && (environment !== undefined || key === undefined)
  if (mayBeWhole && variant && variant.version === undefined) {
    return resolveVariant(registry, family, variant, artifact)
  }
  if (mayBeWhole && !variant && !environment && artifact && artifact.version === undefined) {
    return { artifact: await resolveArtifact(registry, family, artifact) }
  }
  const place = await retrieveRevision(registry, family, references, surface)
  return { artifact: place.artifact, oid: place.oid }
}

function presentDependent(
  { revision, locations, keys }: Dependent,
  options: Parameters<typeof presentReferences>[2],
): object {
  return {
    kind: keys ? 'deployment' : 'embed',
    ...presentReferences(revision.artifact.family.name, revision, options),
    locations,
    keys,
  }
}
