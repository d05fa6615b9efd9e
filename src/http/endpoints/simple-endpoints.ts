import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import {
  type ArchiveAction,
  archiveArtifact,
  editArtifact,
  type FlagsEdit,
  type ArtifactView,
  createWithRevision,
  type FlatArtifact,
  flatten,
  queryFlat,
  madeArtifactWarnings,
  defaultVariantOrNew,
} from '../../registry/artifacts.ts'
import {
  assertActive,
  assertUnguarded,
  commitRevision,
  warningsOf,
  artifactById,
  revisionById,
  readRevisionAt,
} from '../../registry/revisions.ts'
import type { MetRows, Reading, Warning } from '../../registry/families.ts'
import { unlessDamaged, type Registry } from '../../registry/registries.ts'
import { presentArtifact, presentFlat } from '../revisions/record.ts'
import { templateFields } from '../revisions/chosen-template.ts'
import { commitWarnings, metOf, toldOfCommit } from './commit-endpoint.ts'
import { firstRevision, editedRoles } from '../revisions/first-revision.ts'
import {
  type EndpointResponse,
  type Endpoint,
  artifactIn,
  assertSameId,
  endpoint,
  named,
} from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { respondWithLargeList } from '../routing/send.ts'
import { apart, assertComesBack, comingBack } from '../schemas/coming-back.ts'
import { envelope, spellings, withArticle } from '../schemas/spellings.ts'
import { folderEdit, folderElsewhere, folderField } from '../schemas/folder-fields.ts'
import { queryInput, queryOf } from '../schemas/queries/query-input.ts'
import { ifChangedInQuery, queryParameters } from '../schemas/queries/query-parameters.ts'
import { withReadOptions } from '../schemas/queries/read-options.ts'
import { orderedList, rowCounts, single, warning } from '../schemas/record-schemas.ts'
import { anyJson, header, headerEdit, IF_CHANGED, message, slug, uuid } from '../schemas/request-schemas.ts'
import { flagsNamed, withRoleEdits, withRoles } from '../schemas/role-fields.ts'
import { OF_FLAT } from '../schemas/unused-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { idElsewhere, idInQuery } from './artifact-endpoints.ts'

/** The simple routes of a surface: one flat record per artifact (interface 1.11). */
export function simpleEndpoints(context: SurfaceContext): Endpoint[] {
  const { surface, names, present, records, isExisting } = context
  const { family, singular, plural } = surface
  const path = `/simple/${surface.path}`
  const flags = flagsNamed(family.roles, family.flagNames)
  const fixed = ['slug', ...OF_FLAT.fixed]
  const record = records.flat
  const output = single(singular, record, { warnings: z.array(warning).optional() })
  const counts = surface.payload === 'rows' ? rowCounts : {}
  const tag = `simple ${plural}`

  const answerFlat = async (
    flat: FlatArtifact,
    asked?: Reading,
    warnings: readonly object[] = [],
  ): Promise<EndpointResponse & { readonly address: ResultAddress }> => ({
    body: {
      count: 1,
      [singular]: await presentFlat(flat, present, asked),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
    address: { id: flat.artifact.id, ...(flat.revision ? { revision: flat.revision.id } : {}) },
  })

  const answerMade = async (
    registry: Registry,
    flat: FlatArtifact,
    asked: Reading | undefined,
    own: readonly Warning[] | undefined,
    met: MetRows | undefined,
  ): Promise<EndpointResponse> => {
    const warnings = await commitWarnings(registry, flat.revision, own)
    const more = await madeArtifactWarnings(registry, flat.artifact)
    const { body, address } = await answerFlat(flat, asked, [...warnings, ...more])
    return { body: { ...body, ...met }, address: { ...address, ...(met && { file: met }) } }
  }

  const answer = async (artifact: ArtifactView): Promise<EndpointResponse> =>
    answerFlat(await flatten(artifact))

  /** Answers with the revision that was the latest at the time, even if there are later ones now. */
  const recallFlat = async (registry: Registry, address: ResultAddress): Promise<FlatArtifact> => {
    const artifact = await artifactById(registry, family, address.id)
    if (address.revision === undefined) return { artifact, revision: undefined }
    const place = await revisionById(registry, family, address.revision)
    return { artifact, revision: await readRevisionAt(place) }
  }

  const archiving = (action: ArchiveAction): Endpoint =>
    endpoint({
      method: 'POST',
      path: `${path}/:id/${action}`,
      ...named,
      tag,
      summary: action === 'archive' ? `Archive the ${singular}` : `Bring the ${singular} back`,
      scope: 'write',
      output,
      run: async ({ registry, params, context }) => {
        const artifact = await artifactIn(registry, family, params)
        return answer(await archiveArtifact(registry, artifact, action, context))
      },
      recall: async ({ registry }, address) => answerFlat(await recallFlat(registry, address)),
    })

  /** Guards or unguards an artifact; both need the scope deploy (interface 9.10). */
  const guarding = (action: 'guard' | 'unguard', flag: string): Endpoint =>
    endpoint({
      method: 'POST',
      path: `${path}/:id/${action}`,
      ...named,
      tag,
      summary:
        action === 'guard'
          ? `Let only keys with the scope deploy write to the ${singular}`
          : `Let every key that may write, write to the ${singular} again`,
      scope: 'deploy',
      output,
      run: async ({ registry, params, context }) => {
        const artifact = await artifactIn(registry, family, params)
        const isGuarded = action === 'guard'
        const isDone = artifact.record.flags?.[flag] === isGuarded
        const flags: FlagsEdit = (before) => ({ ...before, [flag]: isGuarded })
        return answer(isDone ? artifact : await editArtifact(registry, artifact, { flags }, context))
      },
      recall: async ({ registry }, address) => answerFlat(await recallFlat(registry, address)),
    })

  return [
    endpoint({
      method: 'POST',
      path,
      tag,
      summary: `Create ${withArticle(singular)} with its variant, and with version 1 if data is sent`,
      scope: 'write',
      ...withReadOptions(surface, {
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
                  data: anyJson.optional(),
                  message: message.optional(),
                  ...templateFields(surface),
                },
                family.roles,
              ),
              { ...OF_FLAT, misplaced: { ...idElsewhere(singular), ...folderElsewhere(family) } },
            ),
            required: true,
          },
          ...idInQuery(names.singulars),
        }),
        fromQuery: queryParameters(spellings(names, '_id')),
      }),
      output: single(singular, record, { ...counts, warnings: z.array(warning).optional() }),
      example: {
        [singular]: {
          slug: 'support-bot',
          name: 'Support bot',
          data: surface.example,
        },
      },
      run: async ({ registry, input, context }) => {
        const { slug: chosen, folder, data, message: text, flags, template, preset, ...rest } = input.artifact
        const loc = ['body', input.sentAs.artifact]
        const sent = { flags, template, preset, data, message: text, header: rest }
        const begin = await firstRevision(registry, surface, sent, loc)
        const { artifact: created, met } = await createWithRevision(
          registry,
          family,
          {
            id: input.id,
            slug: chosen,
            folder,
            header: { ...rest, flags: begin.flags },
            withVariant: { revision: begin.revision },
            loc: [...loc, 'slug'],
          },
          context,
        )
        const flat = await flatten(created)
        return answerMade(registry, flat, input.asked, begin.warnings, met)
      },
      recall: async ({ registry, input }, address) => {
        const flat = await recallFlat(registry, address)
        const warnings = flat.revision && (await warningsOf(registry, flat.revision, input.artifact.data))
        return answerMade(registry, flat, input.asked, warnings, metOf(address))
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/query`,
      tag,
      summary: `List ${plural}, each merged with its latest revision`,
      scope: 'read',
      optionalBody: true,
      ...withReadOptions(surface, queryInput(names, 'flat', family)),
      output: orderedList(plural, record),
      example: {},
      run: async (call) => {
        const { registry, input } = call
        const signal = call.untilGone()
        const query = await queryOf(call, context, 'flat')
        const window = await queryFlat(registry, family, { ...query, signal })
        const shown = { ...present, signal }
        return respondWithLargeList(plural, window, input.windowing, (flat) =>
          unlessDamaged(registry, flat.artifact, () => presentFlat(flat, shown, input.asked)),
        )
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:id`,
      ...named,
      tag,
      summary: `The ${singular} merged with its latest revision, archived or not`,
      scope: 'read',
      ...withReadOptions(surface, { input: z.object({}) }),
      output,
      run: async ({ registry, params, input }) => {
        const flat = await flatten(await artifactIn(registry, family, params))
        if (flat.revision?.stored.damage) throw flat.revision.stored.damage
        return answerFlat(flat, input.asked)
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:id`,
      ...named,
      tag,
      summary: 'Edit the header; with data, commit a new revision on the default variant too',
      scope: 'write',
      keepNulls: true,
      ...withReadOptions(surface, {
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
                  data: anyJson.nullish(),
                  message: message.nullish(),
                  ...comingBack(fixed),
                },
                family.roles,
              ),
              { unused: OF_FLAT.unused, misplaced: folderElsewhere(family) },
            ),
            required: true,
          },
          ifChanged: IF_CHANGED,
        }),
        fromQuery: ifChangedInQuery,
      }),
      output: single(singular, record, {
        changed: z.boolean().optional(),
        ...counts,
        warnings: z.array(warning).optional(),
      }),
      example: { [singular]: { data: surface.example } },
      run: async ({ registry, params, input, context }) => {
        const { id, data, message: text, flags, said, ...sent } = input.artifact
        const { rest: edit, fixed: back } = apart(sent, fixed)
        const loc = ['body', input.sentAs.artifact]
        let artifact = await artifactIn(registry, family, params)
        assertSameId(artifact.id, id)
        assertComesBack(back, { ...presentArtifact(artifact, present) }, { loc, isExisting })
        const roles = editedRoles(surface, flags, said)
        const edited = { ...edit, ...roles }
        const isEdit = Object.values(edited).some((value) => value !== undefined)
        const toBe = roles.flags?.(artifact.record.flags) ?? undefined
        assertUnguarded(family, { slug: artifact.slug, flags: toBe }, context.actor)
        assertActive('artifact', artifact.slug, artifact.record)
        // Commits the payload first, so that a refused payload leaves the header unchanged.
        const commit = { data, message: text ?? undefined, header: {}, loc, ifChanged: input.ifChanged }
        const committed =
          data !== undefined && data !== null
            ? await commitRevision(
                registry,
                await defaultVariantOrNew(registry, artifact, context),
                { ...commit, data },
                context,
              )
            : undefined
        if (isEdit) artifact = await editArtifact(registry, artifact, edited, context)
        const flat = await flatten(await artifactById(registry, family, artifact.id))
        const { body, ...rest } = await answerFlat(flat, input.asked)
        const told = committed && (await toldOfCommit(registry, committed, input, present))
        return { ...rest, body: { ...body, ...told } }
      },
    }),
    archiving('archive'),
    archiving('unarchive'),
    ...(family.guardFlag === undefined
      ? []
      : [guarding('guard', family.guardFlag), guarding('unguard', family.guardFlag)]),
  ]
}
