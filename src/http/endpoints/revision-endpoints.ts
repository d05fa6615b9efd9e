import { z } from 'zod'
import type { ResultAddress } from '../../access/intent-file.ts'
import { type ArchiveAction, archiveRevision } from '../../versioning/artifacts/change-artifact.ts'
import { Refusal } from '../../errors.ts'
import { parseUuid } from '../../versioning/ids.ts'
import type { Registry } from '../../versioning/registry.ts'
import { type CommittedRevision, commitRevision } from '../../versioning/revisions/commit-revision.ts'
import { queryRevisions } from '../../versioning/revisions/query-revisions.ts'
import type { References } from '../../versioning/reference.ts'
import {
  type VariantLocation,
  revisionById,
  resolveReference,
} from '../../versioning/revisions/references.ts'
import {
  findRevisionById,
  latestOf,
  readListedRevision,
  type RevisionLocation,
} from '../../versioning/revisions/revision.ts'
import { shadowWarnings } from '../../versioning/slugs/shadowed-slugs.ts'
import type { CommitRequest } from '../../versioning/revisions/write-revision.ts'
import { presentRevision } from '../presenters/record.ts'
import { commitTarget } from '../revisions/commit-target.ts'
import { type CommitAsked, recalledCommit, toldOfCommit, unchangedOf } from '../revisions/commit-warnings.ts'
import { readIfMatch } from '../revisions/etag.ts'
import { RevisionResponses } from '../revisions/revision-responses.ts'
import {
  type EndpointResponse,
  type Call,
  type Endpoint,
  endpoint,
  named,
  revisionIn,
} from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { deployments } from '../schemas/deployments.ts'
import { apart, assertBelongs, assertComesBack, comingBack } from '../schemas/coming-back.ts'
import { envelope } from '../schemas/envelope.ts'
import {
  type Beside,
  parentFields,
  parentIdsBeside,
  parentsBeside,
  parentsInQuery,
  parentsOf,
} from '../schemas/parents.ts'
import { ifChangedInQuery } from '../schemas/queries/query-parameters.ts'
import { queryInput, queryOf } from '../schemas/queries/query-input.ts'
import { type WithReadOptions, payloadPage, withReadOptions } from '../schemas/queries/read-options.ts'
import {
  orderedList,
  rowCounts,
  single,
  warning,
  documentDiff,
  pageInfo,
  rowDiff,
} from '../schemas/record-schemas.ts'
import {
  anyJson,
  header,
  IF_CHANGED,
  message,
  slug,
  uuid,
  pageWindowing,
  reference,
} from '../schemas/request-schemas.ts'
import { flagsNamed } from '../schemas/role-fields.ts'
import { spellings } from '../schemas/surface-names.ts'
import { ofRevisions } from '../schemas/unused-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { dependentsEndpoint } from './dependents-endpoint.ts'
import { deployEndpoint, deploySlugs, deployTargets } from './deploy-endpoint.ts'
import { blameEndpoint } from './blame-endpoint.ts'
import { compareEndpoint } from './compare-endpoint.ts'
import { fileEndpoints } from './file-endpoints.ts'
import { listRevisions, logEndpoint } from './log-endpoint.ts'
import { mergeEndpoints } from './merge-endpoints.ts'
import { provenanceEndpoint } from './provenance-endpoint.ts'
import { isResolvable, resolveEndpoint } from './resolve-endpoint.ts'
import { retrieveEndpoints } from './retrieve-endpoints.ts'
import type { Surface } from '../../resources/surface.ts'
import { diffRevisions } from '../../versioning/revisions/diff/diff-revisions.ts'

/** The routes of a surface at the revision level (interface 4.3, 4.20, 5.2, 1.3). */
export function revisionEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records, isExisting } = context
  const { family, path, singular } = surface
  const key = `${singular}_revision`
  const tag = surface.plural
  const answers = new RevisionResponses(surface, present)

  const { unused, own, fixed } = ofRevisions(names)
  const commitFields = {
    ...parentFields(names, ['', '_variant', '_revision']),
    slug: slug.optional(),
    message: message.optional(),
    ...header,
    flags: flagsNamed([], [...family.roles, ...family.flagNames]).optional(),
    ...comingBack([...own, ...fixed.filter((name) => name.endsWith('_slug'))]),
  }

  const commit = async (
    { registry, context: writeContext, headers: { 'if-match': ifMatch } }: Call<unknown>,
    member: string,
    fields: Readonly<Record<string, unknown>> & z.infer<z.ZodObject<typeof header>>,
    beside: Beside,
    more: Pick<
      CommitRequest,
      'message' | 'slug' | 'data' | 'delta' | 'baseRevisionId' | 'mustBeFirst' | 'ifChanged'
    >,
    deploy: readonly string[] = [],
  ) => {
    const parents = parentsOf(names, fields, beside)
    const { baseId, ...place } = await commitTarget(context, registry, parents, member)
    // A whole payload is made for no revision; one that is named all the same has to be there.
    if (more.data !== undefined && !isExisting) await assertNames(registry, place, parents, member)
    assertBelongs(context, place, fields, member)
    await assertIsBase(place, fields, member)
    const to = await deployTargets(registry, deploy, writeContext)
    const { name, description, tags, meta } = fields
    return commitRevision(
      registry,
      place,
      {
        deltaBaseId: baseId,
        header: { name, description, tags, meta },
        ifMatch: ifMatch === undefined ? undefined : readIfMatch(ifMatch),
        loc: ['body', member],
        ...more,
      },
      writeContext,
      to.length > 0 ? { to, entity: singular } : undefined,
    )
  }

  const answerCommit = async (
    {
      registry,
      input,
    }: Call<
      WithReadOptions<{ revision: Pick<CommitAsked, 'deploy' | 'slug'> } & Pick<CommitAsked, 'ifChanged'>>
    >,
    committed: CommittedRevision,
  ): Promise<EndpointResponse> => {
    const { deploy, slug: chosen } = input.revision
    const asked = { deploy, slug: chosen, ifChanged: input.ifChanged }
    const told = await toldOfCommit(registry, committed, asked, present)
    const answer = await answers.made(committed.revision, input.asked, told)
    return { ...answer, address: { id: committed.revision.id, ...unchangedOf(committed) } }
  }

  /** Refuses a revision of another artifact, and one that is not there. */
  const assertNames = async (
    registry: Registry,
    { artifact }: VariantLocation,
    { revision }: References,
    member: string,
  ): Promise<void> => {
    if (revision?.id === undefined) return
    const named = await resolveReference(registry, family, { revision })
    if (named.artifact.id === artifact.id) return
    throw new Refusal(
      'contradictory_request',
      `body.${member} names a revision of "${named.artifact.slug}", but is for a variant of "${artifact.slug}". Leave the revision out.`,
    )
  }

  /** What a record says of its revision may come back in a commit that goes on from it: of the one it names, else of the latest. */
  const assertIsBase = async (
    { artifact, variant }: VariantLocation,
    fields: Readonly<Record<string, unknown>>,
    member: string,
  ): Promise<void> => {
    const { fixed: back } = apart(fields, own)
    if (Object.values(back).every((value) => value === undefined)) return
    const id = typeof back['id'] === 'string' ? parseUuid(back['id']) : undefined
    const named = id === undefined ? undefined : await findRevisionById(artifact, id)
    const base = named ?? (await latestOf(artifact, variant))
    const answered = base && presentRevision(await readListedRevision(base), present)
    assertComesBack(back, { ...answered }, { loc: ['body', member], isExisting })
  }

  const recall = async ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<EndpointResponse> =>
    answers.fresh(await revisionById(registry, family, id))

  const answerFirst = async (
    registry: Registry,
    place: RevisionLocation,
    chosen: string | undefined,
  ): Promise<EndpointResponse> => {
    const warnings =
      chosen === undefined ? [] : await shadowWarnings(registry, place.artifact, [['tag', chosen]])
    return answers.fresh(place, undefined, warnings.length > 0 ? { warnings } : {})
  }

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
    endpoint({
      method: 'POST',
      path: `/${path}/revisions/commit`,
      tag,
      summary: 'Commit a revision: a whole payload (data) or a change of the latest one (delta)',
      scope: 'write',
      ...withReadOptions(surface, {
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
          ...parentIdsBeside(names),
          ...parentsBeside(names),
          ifChanged: IF_CHANGED,
        }),
        // Existing clients say it in the query string, too (interface 4.3).
        fromQuery: (query, body) => ({ ...parentsInQuery(names)(query), ...ifChangedInQuery(query, body) }),
      }),
      output: single(key, records.revision, {
        changed: z.boolean().optional(),
        ...(surface.payload === 'rows' ? rowCounts : {}),
        warnings: z.array(warning).optional(),
        deployments: deployments.optional(),
      }),
      example: {
        [`${key}_commit`]: {
          [`${singular}_variant_ref`]: { slug: 'support-bot' },
          message: 'Cooler',
          data: surface.example,
        },
      },
      run: async (call) => {
        const { revision, sentAs, ifChanged } = call.input
        const {
          message: text,
          slug: chosen,
          data,
          delta,
          base_revision_id: baseRevisionId,
          deploy,
        } = revision
        const more = { message: text, slug: chosen, data, delta, baseRevisionId, ifChanged }
        const committed = await commit(call, sentAs.revision, revision, call.input, more, deploy)
        return answerCommit(call, committed)
      },
      recall: async (call, address) => {
        const { registry, input } = call
        const { data: sent, deploy } = input.revision
        return answerCommit(call, await recalledCommit(registry, family, address, { sent, deploy }))
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
          schema: declare(z.object(commitFields), {
            unused,
            misplaced: { data: `a revision with data is committed: send it to /${path}/revisions/commit` },
          }),
          required: true,
        },
        ...parentsBeside(names),
      }),
      output: single(key, records.revision, { warnings: z.array(warning).optional() }),
      example: { [key]: { [`${singular}_variant_ref`]: { slug: 'support-bot' }, message: 'Begin' } },
      run: async (call) => {
        const { revision, sentAs } = call.input
        const more = { message: revision.message, slug: revision.slug, mustBeFirst: true }
        const committed = await commit(call, sentAs.revision, revision, call.input, more)
        return answerFirst(call.registry, committed.revision, revision.slug)
      },
      recall: async ({ registry, input }, { id }) =>
        answerFirst(registry, await revisionById(registry, family, id), input.revision.slug),
    }),
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
      windowing: { names: ['windowing'], schema: pageWindowing },
    }),
    output: z.strictObject({
      count: z.literal(1),
      diff: isRows ? rowDiff : documentDiff,
      ...(isRows ? { windowing: pageInfo.optional() } : {}),
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
