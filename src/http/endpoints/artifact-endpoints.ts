import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import { getPath } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { deployedCommits } from '../../registry/environments.ts'
import { documentOf, LargeDocument, type Surface } from '../../registry/families.ts'
import {
  type ArchiveAction,
  archiveArtifact,
  editArtifact,
  type ArtifactView,
  flatten,
  type RecordedArtifact,
  createArtifact,
  queryArtifacts,
  madeArtifactWarnings,
} from '../../registry/artifacts.ts'
import { type Registry, unlessDamaged } from '../../registry/registries.ts'
import {
  artifactById,
  homeOf,
  isoSeconds,
  readListedRevision,
  type Revision,
} from '../../registry/revisions.ts'
import { presentArtifact, presentAuthor, type PresentOptions, presentShort } from '../revisions/record.ts'
import { templateFields } from '../revisions/chosen-template.ts'
import { firstRevision, editedRoles } from '../revisions/first-revision.ts'
import {
  type EndpointResponse,
  type Call,
  type Endpoint,
  artifactIn,
  assertSameId,
  endpoint,
  named,
} from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { respondWithList } from '../routing/send.ts'
import { apart, assertComesBack, comingBack } from '../schemas/coming-back.ts'
import { envelope, spellings, withArticle } from '../schemas/spellings.ts'
import { folderEdit, folderElsewhere, folderField } from '../schemas/folder-fields.ts'
import { queryInput, queryOf } from '../schemas/queries/query-input.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { orderedList, shortRevision, single, timestamp, warning } from '../schemas/record-schemas.ts'
import { header, headerEdit, slug, uuid } from '../schemas/request-schemas.ts'
import { flagsNamed, withRoleEdits, withRoles } from '../schemas/role-fields.ts'
import { OF_ARTIFACTS } from '../schemas/unused-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** The routes of a surface at the artifact level (interface 4.23). */
export function artifactEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records, isExisting } = context
  const { family, path, singular, plural } = surface
  const output = single(singular, records.artifact)
  const madeOutput = single(singular, records.artifact, { warnings: z.array(warning).optional() })
  const tag = plural
  const answer = (artifact: ArtifactView): EndpointResponse => ({
    body: { count: 1, [singular]: presentArtifact(artifact, present) },
    address: { id: artifact.id },
  })
  // Each surface makes its record as an object.
  const listedRecord = (records.artifact as z.ZodObject).extend(ofLists)
  const flags = flagsNamed(family.roles, family.flagNames)
  const fixed = ['slug', ...OF_ARTIFACTS.fixed]
  const answerMade = async (registry: Registry, artifact: ArtifactView): Promise<EndpointResponse> => {
    const warnings = await madeArtifactWarnings(registry, artifact)
    const { body, address } = answer(artifact)
    return { body: { ...body, ...(warnings.length > 0 ? { warnings } : {}) }, address }
  }
  const recall = async ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<EndpointResponse> =>
    answer(await artifactById(registry, family, id))

  const archiving = (action: ArchiveAction): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/${path}/:id/${action}`,
      ...named,
      tag,
      summary:
        action === 'archive'
          ? `Archive the ${singular}, hiding its variants and revisions`
          : `Bring the ${singular} back`,
      scope: 'write',
      output,
      run: async ({ registry, params, context }) => {
        const artifact = await artifactIn(registry, family, params)
        return answer(await archiveArtifact(registry, artifact, action, context))
      },
      recall,
    })

  return [
    endpoint({
      method: 'POST',
      path: `/${path}`,
      tag,
      summary: surface.hasCatalog
        ? `Create ${withArticle(singular)}: a repository without variants yet, or with version 1 made from a template`
        : `Create ${withArticle(singular)}: a repository without variants yet`,
      scope: 'write',
      input: envelope({
        artifact: {
          names: names.singulars,
          schema: declare(
            withRoles(
              {
                slug: slug.optional(),
                ...header,
                ...folderField(family),
                flags: flags.optional(),
                ...templateFields(surface),
              },
              family.roles,
            ),
            {
              ...OF_ARTIFACTS,
              misplaced: {
                ...idElsewhere(singular),
                ...folderElsewhere(family),
                data: dataElsewhere(surface),
              },
            },
          ),
          required: true,
        },
        ...idInQuery(names.singulars),
      }),
      fromQuery: queryParameters(spellings(names, '_id')),
      output: madeOutput,
      example: { [singular]: { slug: 'support-bot', name: 'Support bot', description: 'Answers tickets' } },
      run: async ({ registry, input, context }) => {
        const { slug: chosen, folder, flags, template, preset, ...rest } = input.artifact
        const loc = ['body', input.sentAs.artifact]
        const begin = await firstRevision(registry, surface, { flags, template, preset, header: rest }, loc)
        const created = await createArtifact(
          registry,
          family,
          {
            id: input.id,
            slug: chosen,
            folder,
            header: { ...rest, flags: begin.flags },
            ...(begin.revision ? { withVariant: { revision: begin.revision } } : {}),
            loc: [...loc, 'slug'],
          },
          context,
        )
        return answerMade(registry, created)
      },
      recall: async ({ registry }, { id }) => answerMade(registry, await artifactById(registry, family, id)),
    }),
    endpoint({
      method: 'POST',
      path: `/${path}/query`,
      tag,
      summary: `List ${plural} by filters`,
      scope: 'read',
      optionalBody: true,
      ...queryInput(names, 'artifact', family),
      output: orderedList(plural, listedRecord),
      example: { [singular]: { tags: { team: 'support' } }, windowing: { limit: 20 } },
      run: async (call) => {
        const { registry, input } = call
        const window = await queryArtifacts(registry, family, await queryOf(call, context, 'artifact'))
        const rows = input.includeLatest
          ? await withLatest(call, window.rows, present)
          : window.rows.map((it) => presentArtifact(it, present))
        return respondWithList(plural, window, input.windowing, rows)
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${path}/:id`,
      ...named,
      tag,
      summary: `The ${singular} of this id, archived or not`,
      scope: 'read',
      output,
      run: async ({ registry, params }) => answer(await artifactIn(registry, family, params)),
    }),
    endpoint({
      method: 'PUT',
      path: `/${path}/:id`,
      ...named,
      tag,
      summary:
        'Edit name, description, tags, meta, folder or flags; a field left out keeps its value, null clears it',
      scope: 'write',
      keepNulls: true,
      input: envelope({
        artifact: {
          names: names.singulars,
          schema: declare(
            withRoleEdits(
              {
                id: uuid.optional(),
                ...headerEdit,
                ...folderEdit(family),
                flags: flags.nullish(),
                ...comingBack(fixed),
              },
              family.roles,
            ),
            {
              unused: OF_ARTIFACTS.unused,
              misplaced: { ...folderElsewhere(family), data: dataElsewhere(surface) },
            },
          ),
          required: true,
        },
      }),
      output,
      example: { [singular]: { name: 'Support bot, second edition', description: null } },
      run: async ({ registry, params, input, context }) => {
        const { id, flags, said, ...sent } = input.artifact
        const { rest: edit, fixed: back } = apart(sent, fixed)
        const artifact = await artifactIn(registry, family, params)
        assertSameId(artifact.id, id)
        const answered = { ...presentArtifact(artifact, present) }
        assertComesBack(back, answered, { loc: ['body', input.sentAs.artifact], isExisting })
        const edited = { ...edit, ...editedRoles(surface, flags, said) }
        return answer(await editArtifact(registry, artifact, edited, context))
      },
    }),
    archiving('archive'),
    archiving('unarchive'),
  ]
}

const ofLists = {
  latest: shortRevision
    .extend({
      author: z.string(),
      date: timestamp,
      subject: z.string(),
      // Of a prompt.
      model: z.string().optional(),
    })
    .optional(),
  deployments: z.array(z.strictObject({ environment: z.string(), revision: shortRevision })).optional(),
}

/** Artifacts of a list, each with its default variant's latest revision, and what environments run of it (interface 2.35). */
async function withLatest(
  { registry, untilGone }: Pick<Call<unknown>, 'registry' | 'untilGone'>,
  rows: readonly RecordedArtifact[],
  present: PresentOptions,
): Promise<readonly object[]> {
  const slice = new TimeSlice(untilGone())
  const found = await slice.map(rows, ({ id }) => registry.index.findByDigits(id))
  const views = found.filter((view) => view !== undefined)
  const deployed = await deployedCommits(registry, views)
  const told = new Map<string, object>()
  await slice.each(views, async (artifact) => {
    const { id } = artifact
    const more = await unlessDamaged(registry, artifact, () => latestOf(artifact, deployed.get(id), present))
    told.set(id, { ...presentArtifact(artifact, present), ...more })
  })
  return rows.map((row) => told.get(row.id) ?? presentArtifact(row, present))
}

/** `deployed` are commits by the slugs of environments. */
async function latestOf(
  artifact: ArtifactView,
  deployed: ReadonlyMap<string, string> = new Map(),
  present: PresentOptions,
): Promise<object> {
  const { revision } = await flatten(artifact)
  const deployments: object[] = []
  for (const [environment, oid] of deployed) {
    const place = await homeOf(artifact, oid)
    const running = place && presentShort(await readListedRevision(place), present)
    if (running) deployments.push({ environment, revision: running })
  }
  return {
    ...(revision && { latest: presentLatest(revision, present) }),
    ...(deployments.length > 0 && { deployments }),
  }
}

function presentLatest(revision: Revision, present: PresentOptions): object {
  const { artifact, stored } = revision
  const { author, committer } = stored.commit
  const isPrompt = artifact.family.mayEmbed && stored.payload && !(stored.payload instanceof LargeDocument)
  const model = isPrompt
    ? getPath(documentOf(stored.payload), 'parameters', 'prompt', 'llm_config', 'model')
    : undefined
  return {
    ...presentShort(revision, present),
    author: presentAuthor(`${author.name} <${author.email}>`, present),
    date: isoSeconds(committer.seconds),
    subject: stored.subject,
    ...(typeof model === 'string' && { model }),
  }
}

/** `?application_id=`: existing clients choose an artifact's id in the query string (interface 1.14). */
export function idInQuery(singulars: readonly string[]): { id: { names: string[]; schema: typeof uuid } } {
  return { id: { names: singulars.map((name) => `${name}_id`), schema: uuid } }
}

/** The problem reported for an id inside the record of a create. */
export function idElsewhere(singular: string): { id: string } {
  return {
    id: `a new ${singular} is given its id; to choose it, send ?${singular}_id=… in the address`,
  }
}

function dataElsewhere({ singular, path }: Surface): string {
  return `${withArticle(singular)} itself holds no data, its revisions do; send it to /simple/${path}, or commit it to /${path}/revisions/commit`
}
