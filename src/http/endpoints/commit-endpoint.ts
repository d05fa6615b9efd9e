import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import { danglingReferences, findEmbeds } from '../../registry/embeds.ts'
import { Refusal, invalid } from '../../errors.ts'
import { committedViolation } from '../../run/invocation.ts'
import type { Json } from '../../base/json.ts'
import {
  assertRevisionActive,
  type CommittedRevision,
  commitRevision,
  warningsOf,
  type VariantLocation,
  resolveArtifact,
  resolveReference,
  resolveVariant,
  revisionById,
  findRevisionById,
  latestOf,
  readListedRevision,
  type Revision,
  type RevisionLocation,
  variantToWrite,
  type CommitRequest,
} from '../../registry/revisions.ts'
import { environmentVariant, pinWarnings } from '../../registry/environments.ts'
import {
  documentOf,
  type Family,
  type MetRows,
  type Warning,
  LargeDocument,
} from '../../registry/families.ts'
import {
  objectUuid,
  parseUuid,
  noVariantYet,
  type Reference,
  type References,
  type Registry,
  type WriteContext,
} from '../../registry/registries.ts'
import { shadowWarnings } from '../../registry/artifacts.ts'
import { type PresentOptions, presentRevision } from '../revisions/record.ts'
import type { RevisionResponses } from '../revisions/revision-responses.ts'
import { type Call, type Endpoint, endpoint, type EndpointResponse } from '../routing/endpoint.ts'
import { declare } from '../routing/known-fields.ts'
import { readIfMatch } from '../routing/send.ts'
import { apart, assertBelongs, assertComesBack, comingBack } from '../schemas/coming-back.ts'
import { deployments, presentDeployments } from '../schemas/deployments.ts'
import { ifChangedInQuery } from '../schemas/queries/query-parameters.ts'
import { type WithReadOptions, withReadOptions } from '../schemas/queries/read-options.ts'
import { rowCounts, single, warning } from '../schemas/record-schemas.ts'
import { anyJson, header, IF_CHANGED, message, slug, uuid } from '../schemas/request-schemas.ts'
import { flagsNamed } from '../schemas/role-fields.ts'
import {
  type Beside,
  envelope,
  parentFields,
  parentIdsBeside,
  parentMissing,
  parentsBeside,
  parentsInQuery,
  parentsOf,
  spellings,
} from '../schemas/spellings.ts'
import { ofRevisions } from '../schemas/unused-fields.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { deploySlugs } from './deploy-endpoint.ts'

/** The input of both routes: the record, and the fields beside it. */
interface Commit extends Beside {
  readonly revision: Readonly<Record<string, unknown>> &
    z.infer<z.ZodObject<typeof header>> &
    Pick<CommitRequest, 'message' | 'slug'>
  readonly sentAs: { readonly revision: string }
}

/** The two routes of a surface that commit a revision: with a payload, and a variant's first one without (interface 4.3, 4.20). */
export function commitEndpoints(context: SurfaceContext, answers: RevisionResponses): Endpoint[] {
  const { surface, names, present, records, isExisting } = context
  const { family, path, singular } = surface
  const key = `${singular}_revision`
  const tag = surface.plural

  const { unused, own, fixed } = ofRevisions(names)
  const slugs = fixed.filter((name) => name.endsWith('_slug'))
  const commitFields = {
    ...parentFields(names, ['', '_variant', '_revision']),
    slug: slug.optional(),
    message: message.optional(),
    ...header,
    flags: flagsNamed([], [...family.roles, ...family.flagNames]).optional(),
    ...comingBack([...own, ...slugs]),
  }
  /** These fields are compared with the answered record; ids of parents only say where the commit goes. */
  const back = [...own, ...slugs, 'flags']

  const commit = async (
    { registry, input, context: writeContext, headers: { 'if-match': ifMatch } }: Call<Commit>,
    more: Pick<CommitRequest, 'data' | 'delta' | 'baseRevisionId' | 'mustBeFirst' | 'ifChanged'>,
    deploy: readonly string[] = [],
  ): Promise<CommittedRevision> => {
    const { revision: fields, sentAs } = input
    const member = sentAs.revision
    const parents = parentsOf(names, fields, input)
    // A variant alone is the target. Everything else that is named has to agree with it.
    const place: CommitTarget =
      parents.variant && !parents.artifact && !parents.revision
        ? await resolveVariant(registry, family, parents.variant)
        : await commitTarget(context, registry, parents, member)
    // A whole payload has no base revision. If one is named all the same, it must exist.
    if (more.data !== undefined && parents.revision?.id !== undefined && !isExisting)
      await assertNames(registry, place, parents.revision, member)
    for (const name of back) {
      if (fields[name] === undefined) continue
      assertBelongs(context, place, fields, member)
      await assertIsBase(place, fields, member)
      break
    }
    const to = deploy.length > 0 ? await deployTargets(registry, deploy, writeContext) : []
    const { name, description, tags, meta, message: text, slug: chosen } = fields
    return commitRevision(
      registry,
      place,
      {
        deltaBaseId: place.baseId,
        header: { name, description, tags, meta },
        message: text,
        slug: chosen,
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
    const asked = { ...input.revision, ifChanged: input.ifChanged }
    const told = await toldOfCommit(registry, committed, asked, present)
    const answer = await answers.made(committed.revision, input.asked, told)
    if (committed.changed && !committed.met) return answer
    return { ...answer, address: { id: committed.revision.id, ...unchangedOf(committed) } }
  }

  /** Refuses a revision of another artifact, and one that is not there. */
  const assertNames = async (
    registry: Registry,
    { artifact }: VariantLocation,
    revision: Reference,
    member: string,
  ): Promise<void> => {
    const named = await resolveReference(registry, family, { revision })
    if (named.artifact.id === artifact.id) return
    throw new Refusal(
      'contradictory_request',
      `body.${member} names a revision of "${named.artifact.slug}", but is for a variant of "${artifact.slug}". Leave the revision out.`,
    )
  }

  /**
   * A client may send a record back with its read-only fields. They must be those of the revision that the commit goes on from: the one it names,
   * or the latest.
   */
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

  const answerFirst = async (
    registry: Registry,
    place: RevisionLocation,
    chosen: string | undefined,
  ): Promise<EndpointResponse> => {
    const warnings =
      chosen === undefined ? [] : await shadowWarnings(registry, place.artifact, [['tag', chosen]])
    return answers.fresh(place, undefined, warnings.length > 0 ? { warnings } : {})
  }

  return [
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
        const { revision, ifChanged } = call.input
        const { data, delta, base_revision_id: baseRevisionId, deploy } = revision
        const committed = await commit(call, { data, delta, baseRevisionId, ifChanged }, deploy)
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
        const committed = await commit(call, { mustBeFirst: true })
        return answerFirst(call.registry, committed.revision, call.input.revision.slug)
      },
      recall: async ({ registry, input }, { id }) =>
        answerFirst(registry, await revisionById(registry, family, id), input.revision.slug),
    }),
  ]
}

/** Where a commit goes to. */
interface CommitTarget extends VariantLocation {
  /** The revision that a delta was made for, if the commit names one. */
  readonly baseId?: string | undefined
}

/**
 * The variant that a commit goes to: the one it names, or the default variant of the artifact that it names. If the payload is rows, the base
 * revision of a delta may also determine the variant (interface 8.13, see `variantToWrite`).
 */
async function commitTarget(
  { surface, names }: Pick<SurfaceContext, 'surface' | 'names'>,
  registry: Registry,
  parents: References,
  member: string,
): Promise<CommitTarget> {
  const { family } = surface
  const { artifact, variant, revision } = parents
  const isRows = surface.payload === 'rows'
  const inArtifact = artifact && (await resolveArtifact(registry, family, artifact))
  const base =
    revision && (isRows || revision.id === undefined)
      ? await resolveReference(registry, family, parents)
      : undefined
  if (base) assertRevisionActive(base)
  const place = await placeNamed()
  if (base && base.artifact.id !== place.artifact.id) {
    throw invalid(
      ['body', member, `${surface.singular}_revision_id`],
      `${idOf(base)} is a revision of ${base.artifact.slug}, which is another ${surface.singular} than the one named beside it.`,
    )
  }
  if (inArtifact && inArtifact.id !== place.artifact.id) {
    throw new Refusal(
      'contradictory_request',
      `body.${member} names the artifact ${inArtifact.id}, but its variant belongs to ${place.artifact.id}. Leave the artifact out.`,
    )
  }
  return { ...place, baseId: revision?.id ?? (base && idOf(base)) }

  async function placeNamed(): Promise<VariantLocation> {
    if (variant) return resolveVariant(registry, family, variant, artifact)
    if (base && isRows && (!inArtifact || inArtifact.id === base.artifact.id))
      return variantToWrite(base, { artifact: inArtifact })
    if (!inArtifact) throw parentMissing(names, member, '_variant')
    if (!inArtifact.defaultVariant) throw noVariantYet(inArtifact)
    return { artifact: inArtifact, variant: inArtifact.defaultVariant }
  }
}

/**
 * The variant that a write goes to which names a revision and perhaps a variant or an artifact beside it (see `variantToWrite`). Refuses a variant
 * or an artifact that is not the revision's (`contradictory_request`).
 */
export async function variantBeside(
  registry: Registry,
  place: RevisionLocation,
  { variant, artifact }: Pick<References, 'variant' | 'artifact'>,
): Promise<VariantLocation> {
  const { family } = place.artifact
  const named = {
    variant: variant && (await resolveVariant(registry, family, variant, artifact)),
    artifact: artifact && (await resolveArtifact(registry, family, artifact)),
  }
  for (const other of [named.variant?.artifact, named.artifact]) {
    if (!other || other.id === place.artifact.id) continue
    throw new Refusal(
      'contradictory_request',
      `The revision belongs to "${place.artifact.slug}", but what the request names beside it belongs to "${other.slug}". Name a variant of ` +
        `"${place.artifact.slug}".`,
    )
  }
  return variantToWrite(place, named)
}

function idOf({
  artifact,
  oid,
}: {
  readonly artifact: VariantLocation['artifact']
  readonly oid: string
}): string {
  return objectUuid(oid, artifact.digits)
}

/** The variants of the environments in a commit's `deploy`, each once. */
async function deployTargets(
  registry: Registry,
  slugs: readonly string[],
  context: WriteContext,
): Promise<readonly VariantLocation[]> {
  const targets: VariantLocation[] = []
  for (const slug of new Set(slugs)) {
    targets.push(await environmentVariant(registry, { artifact: { slug } }, context))
  }
  return targets
}

/**
 * The warnings for the sender of a revision: `own` from the payload itself, then each reference that points at nothing now, with its location, and
 * parameters that violate the schema beside them, as `inspect` reports it for a draft.
 */
export async function commitWarnings(
  registry: Registry,
  revision: Revision | undefined,
  own: readonly Warning[] = [],
): Promise<readonly Warning[]> {
  if (!revision) return own
  const { family } = revision.artifact
  const { payload } = revision.stored
  // A revision that was not committed but deployed, and is too large to look through, was checked when it was stored.
  if (!payload || payload instanceof LargeDocument) return own
  if (family.pins) return [...own, ...(await pinWarnings(registry, family, payload))]
  if (!family.mayEmbed) return own
  const data = documentOf(payload)
  const { tokens, inert } = findEmbeds(data)
  const embeds = tokens.length > 0 || inert.length > 0
  const dangling = embeds ? await danglingReferences(registry, data) : []
  return [...own, ...dangling, ...(await committedViolation(registry, data, embeds))]
}

/** The options of a commit on which its answer depends. */
interface CommitAsked {
  /** The slugs of the environments that it deploys to. */
  readonly deploy?: readonly string[] | undefined
  readonly ifChanged?: boolean | undefined
  /** The slug that the client chose for it. */
  readonly slug?: string | undefined
}

/**
 * The fields of a commit's answer beside its revision: whether there was something to commit, if that was asked, warnings, and the deployments of
 * the same write.
 */
export async function toldOfCommit(
  registry: Registry,
  { revision, changed, met, warnings: own, deployedTo }: CommittedRevision,
  { deploy = [], ifChanged, slug }: CommitAsked,
  present: PresentOptions,
): Promise<object> {
  const found = await commitWarnings(registry, revision, own)
  const isNamed = changed && slug !== undefined
  const shadowed = isNamed ? await shadowWarnings(registry, revision.artifact, [['tag', slug]]) : []
  const warnings = [...found, ...shadowed]
  const told = { ...(ifChanged && { changed }), ...met, ...(warnings.length > 0 && { warnings }) }
  if (deploy.length === 0) return told
  if (revision.stored.damage) throw revision.stored.damage
  return { ...told, deployments: presentDeployments(revision, [...new Set(deploy)], deployedTo, present) }
}

/** The facts of a commit that its repetition needs and the revision does not contain. */
export function unchangedOf({
  revision,
  changed,
  met,
  deployedTo,
}: Omit<CommittedRevision, 'warnings'>): Pick<ResultAddress, 'variant' | 'unchanged' | 'file'> {
  const file = met && { file: met }
  return changed
    ? { ...file }
    : { ...file, variant: revision.variant.id, unchanged: { deployed_to: [...deployedTo] } }
}

/** The commit with this address, for the answer to a repeated request; `sent` is its `data`, and `deploy` as above. */
export async function recalledCommit(
  registry: Registry,
  family: Family,
  address: ResultAddress,
  { sent, deploy = [] }: { readonly sent?: Json | undefined } & Pick<CommitAsked, 'deploy'> = {},
): Promise<CommittedRevision> {
  const place = await recalledPlace(registry, family, address)
  const { unchanged } = address
  const met = metOf(address)
  const warnings = await warningsOf(registry, place, sent)
  const revision = await readListedRevision(place)
  return { revision, changed: !unchanged, met, warnings, deployedTo: unchanged?.deployed_to ?? deploy }
}

/** The counts of sent rows; undefined if only the ids of a result are known. */
export function metOf({ file }: ResultAddress): MetRows | undefined {
  return file && { collapsed: file.collapsed, replaced: file.replaced }
}

/** The revision of a result, under the variant of the first answer. */
export async function recalledPlace(
  registry: Registry,
  family: Family,
  { id, revision = id, variant: variantId }: ResultAddress,
): Promise<RevisionLocation> {
  const place = await revisionById(registry, family, revision)
  const variant = place.artifact.variants.find((it) => it.id === variantId)
  return variant ? { ...place, variant, isHome: false } : place
}
