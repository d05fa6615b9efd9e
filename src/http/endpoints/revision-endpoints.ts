import { z } from 'zod'
import type { ResultAddress } from '../../access/intent-file.ts'
import type { ArchiveAction } from '../../versioning/archive.ts'
import { archiveRevision } from '../../versioning/archive.ts'
import type { Reading } from '../../versioning/family.ts'
import type { Revision } from '../../versioning/revision.ts'
import { commitRevision } from '../../versioning/commit-revision.ts'
import { logRevisions } from '../../versioning/log-revisions.ts'
import { logStart } from '../../versioning/log-start.ts'
import { queryRevisions } from '../../versioning/query-revisions.ts'
import { revisionById } from '../../versioning/references.ts'
import { warningsOf } from '../../versioning/warnings-of.ts'
import type { Window, Windowing } from '../../versioning/windowing.ts'
import type { NewRevision } from '../../versioning/write-revision.ts'
import type { Registry } from '../../versioning/registry.ts'
import { unlessDamaged } from '../../versioning/unless-damaged.ts'
import { answerLargeList } from '../answer-list.ts'
import { commitPlace, withVariant } from '../commit-place.ts'
import { toldOfCommit } from '../commit-warnings.ts'
import { deployments } from '../deployments.ts'
import type { Answer, Call, Endpoint } from '../endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { declare } from '../known-fields.ts'
import { diffEndpoint } from './diff-endpoint.ts'
import { envelope, firstOf } from '../envelope.ts'
import { named, revisionIn } from '../path-id.ts'
import { presentPayload, presentRevision } from '../present.ts'
import { pageOf, withReading } from '../reading.ts'
import { queryInput, queryOf } from '../query-input.ts'
import { queryParameters } from '../query-parameters.ts'
import { list, single, warning } from '../record-schemas.ts'
import { anyJson, depth, header, message, slug, uuid, windowing } from '../request-schemas.ts'
import { readIfMatch } from '../read-if-match.ts'
import { flagsNamed } from '../role-fields.ts'
import { RevisionAnswers } from '../revision-answers.ts'
import { idSpellings, spellings } from '../surface-names.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { unusedOfRevisions } from '../unused-fields.ts'
import { dependentsEndpoint } from './dependents-endpoint.ts'
import { deployEndpoint, deploySlugs, deployTargets } from './deploy-endpoint.ts'
import { provenanceEndpoint } from './provenance-endpoint.ts'
import { isResolvable, resolveEndpoint } from './resolve-endpoint.ts'
import { retrieveEndpoints } from './retrieve-endpoints.ts'
import { EXAMPLE_ID, optionalIds } from './variant-endpoints.ts'

/** The routes of a surface at the revision level (interface 4.1, 4.5, section 9; contract/workflows 4.2). */
export function revisionEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records } = context
  const { family, path, singular } = surface
  const key = `${singular}_revision`
  const tag = surface.plural
  const answers = new RevisionAnswers(surface, present)
  const variantIds = idSpellings(names, '_variant')

  const commitFields = {
    ...optionalIds([...variantIds, ...idSpellings(names, ''), ...idSpellings(names, '_revision')]),
    slug: slug.optional(),
    message: message.optional(),
    ...header,
    flags: flagsNamed([], [...family.roles, ...family.flagNames]).optional(),
  }
  const unused = unusedOfRevisions(names)

  const commit = async (
    { registry, context: writeContext, ifMatch }: Call<unknown>,
    member: string,
    fields: Readonly<Record<string, unknown>> & z.infer<z.ZodObject<typeof header>>,
    more: Pick<NewRevision, 'message' | 'slug' | 'data' | 'delta' | 'baseRevisionId' | 'mustBeFirst'>,
    deploy: readonly string[] = [],
  ) => {
    const place = await commitPlace(context, registry, fields, member)
    const to = await deployTargets(registry, deploy, writeContext)
    const { name, description, tags, meta } = fields
    return commitRevision(
      registry,
      place,
      {
        deltaBaseId: firstOf<string>(fields, idSpellings(names, '_revision')),
        header: { name, description, tags, meta },
        ifMatch: ifMatch === undefined ? undefined : readIfMatch(ifMatch),
        loc: ['body', member],
        ...more,
      },
      writeContext,
      to.length > 0 ? { to, entity: singular } : undefined,
    )
  }

  const recall = async ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<Answer> =>
    answers.fresh(registry, await revisionById(registry, family, id))

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
        return answers.fresh(registry, await archiveRevision(registry, place, action, context))
      },
      recall,
    })

  /** The rows of a list, each with its payload unless that is left out, or cannot be read. */
  const answerRevisions = (
    registry: Registry,
    window: Window<Revision>,
    { windowing: page, asked }: { readonly windowing?: Windowing | undefined; readonly asked: Reading },
    withData: boolean,
  ): Promise<Answer> =>
    answerLargeList(`${key}s`, window, page, async (revision) =>
      presentRevision(
        revision,
        present,
        withData
          ? await unlessDamaged(registry, revision.artifact, async () =>
              presentPayload(revision, present, asked),
            )
          : undefined,
      ),
    )

  return [
    ...retrieveEndpoints(context, answers),
    ...(isResolvable(family) ? [resolveEndpoint(context, answers)] : []),
    ...(surface.isDeployable ? [deployEndpoint(context, answers)] : []),
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/commit`,
      tag,
      summary: 'Commit a revision: a whole payload (data) or a change of the latest one (delta)',
      scope: 'write',
      ...withReading(surface, {
        input: envelope({
          revision: {
            names: [...spellings(names, '_revision_commit'), ...spellings(names, '_revision')],
            schema: declare(
              z.object({
                ...commitFields,
                data: anyJson.optional(),
                delta: anyJson.optional(),
                base_revision_id: uuid.optional(),
                deploy: deploySlugs(surface).optional(),
              }),
              { unused },
            ),
            required: true,
          },
          // Existing clients say it in the query string, too (contract/workflows 11.1).
          variantId: { names: variantIds, schema: uuid },
        }),
        fromQuery: queryParameters(variantIds),
      }),
      output: single(key, records.revision, {
        warnings: z.array(warning).optional(),
        deployments: deployments.optional(),
      }),
      example: {
        [`${key}_commit`]: {
          [`${singular}_variant_id`]: EXAMPLE_ID,
          message: 'Cooler',
          data: surface.example,
        },
      },
      run: async (call) => {
        const { sentAs } = call.input
        const revision = withVariant(call.input.revision, variantIds, call.input.variantId)
        const { message: text, slug: chosen, data, delta, base_revision_id: baseRevisionId } = revision
        const more = { message: text, slug: chosen, data, delta, baseRevisionId }
        const { place, warnings } = await commit(call, sentAs.revision, revision, more, revision.deploy)
        return answers.fresh(
          call.registry,
          place,
          call.input.asked,
          await toldOfCommit(call.registry, place, warnings, revision.deploy, present),
        )
      },
      recall: async ({ registry, input }, { id }) => {
        const place = await revisionById(registry, family, id)
        const warnings = await warningsOf(registry, place, input.revision.data)
        return answers.fresh(
          registry,
          place,
          input.asked,
          await toldOfCommit(registry, place, warnings, input.revision.deploy, present),
        )
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${path}/revisions`,
      tag,
      summary: "A variant's first revision, without a payload",
      scope: 'write',
      input: envelope({
        revision: {
          names: spellings(names, '_revision'),
          schema: declare(z.object(commitFields), { unused: [...unused, 'data'] }),
          required: true,
        },
      }),
      output: single(key, records.revision),
      example: { [key]: { [`${singular}_variant_id`]: EXAMPLE_ID, message: 'Begin' } },
      run: async (call) => {
        const { revision, sentAs } = call.input
        const more = { message: revision.message, slug: revision.slug, mustBeFirst: true }
        const { place } = await commit(call, sentAs.revision, revision, more)
        return answers.fresh(call.registry, place)
      },
      recall,
    }),
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/log`,
      tag,
      summary: 'The revisions of a variant, newest first, without payloads unless include_data is true',
      scope: 'read',
      ...withReading(surface, {
        input: envelope({
          of: {
            names: [
              ...names.singulars,
              ...spellings(names, '_revisions'),
              ...spellings(names, '_revision'),
              ...spellings(names, '_variant'),
            ],
            schema: z.object({
              ...optionalIds([...idSpellings(names, ''), ...variantIds, ...idSpellings(names, '_revision')]),
              depth: depth.optional(),
              include_data: z.boolean().optional(),
              include_archived: z.boolean().optional(),
            }),
            required: true,
          },
          depth: { names: ['depth'], schema: depth },
          includeData: { names: ['include_data'], schema: z.boolean() },
          includeArchived: { names: ['include_archived'], schema: z.boolean() },
          windowing: { names: ['windowing'], schema: windowing },
        }),
      }),
      output: list(`${key}s`, records.revision),
      example: { [singular]: { [`${singular}_variant_id`]: EXAMPLE_ID } },
      run: async ({ registry, input }) => {
        const { of } = input
        const revisionId = firstOf<string>(of, idSpellings(names, '_revision'))
        const variantId = firstOf<string>(of, variantIds)
        const artifactId = firstOf<string>(of, idSpellings(names, ''))
        const start = await logStart(registry, family, { revisionId, variantId, artifactId })
        const window = start
          ? await logRevisions(registry, start, {
              depth: input.depth ?? of.depth,
              includeArchived: input.includeArchived ?? of.include_archived,
              windowing: input.windowing,
            })
          : { rows: [], next: undefined }
        const withData = input.includeData ?? of.include_data ?? false
        return answerRevisions(registry, window, input, withData)
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/query`,
      tag,
      summary: 'List revisions by filters',
      scope: 'read',
      optionalBody: true,
      ...withReading(surface, queryInput(names, 'revision', family)),
      output: list(`${key}s`, records.revision),
      example: { [key]: { message: 'cooler' }, [`${singular}_refs`]: [{ slug: 'support-bot' }] },
      run: async ({ registry, input }) => {
        const window = await queryRevisions(registry, family, queryOf(input, surface))
        return answerRevisions(registry, window, input, true)
      },
    }),
    diffEndpoint(surface),
    dependentsEndpoint(context),
    endpoint({
      method: 'GET',
      path: `/${path}/revisions/:id`,
      ...named,
      tag,
      summary: 'The revision of this id, archived or not, for ever the same',
      scope: 'read',
      ...withReading(surface, { input: z.object({}) }, { paged: true }),
      output: single(key, records.revision, pageOf(surface)),
      run: async ({ registry, params, input, ifNoneMatch }) => {
        const place = await revisionIn(registry, family, params)
        return answers.read(registry, place, input.asked, ifNoneMatch)
      },
    }),
    provenanceEndpoint(context),
    archiving('archive'),
    archiving('unarchive'),
  ]
}
