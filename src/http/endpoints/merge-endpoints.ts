import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { objectUuid, type Reference, type Registry } from '../../registry/registries.ts'
import {
  cherryPickRevision,
  restoreRevision,
  revertRevision,
  type SideReference,
  findSide,
  findSource,
  mergeVariants,
  type Merged,
  type MergeOutcome,
} from '../../registry/merge.ts'
import type { Reading } from '../../registry/families.ts'
import {
  type RevisionLocation,
  type VariantLocation,
  resolveReference,
  findRevisionById,
  homeOf,
  readRevisionAt,
} from '../../registry/revisions.ts'
import { presentShort } from '../revisions/record.ts'
import type { RevisionResponses } from '../revisions/revision-responses.ts'
import { type Call, type Endpoint, type EndpointResponse, endpoint } from '../routing/endpoint.ts'
import {
  type Beside,
  envelope,
  parentIdsBeside,
  parentsBeside,
  parentsInQuery,
  parentsOf,
} from '../schemas/spellings.ts'
import { variantBeside, recalledPlace } from './commit-endpoint.ts'
import { mergeOutcome, resolutions, side, targetSide } from '../revisions/merge-fields.ts'
import { type WithReadOptions, withReadOptions } from '../schemas/queries/read-options.ts'
import { single } from '../schemas/record-schemas.ts'
import { message, reference, uuid } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `POST …/variants/merge`, and `revert`, `restore` and `cherry-pick` of a revision, of a surface (interface 6.5, 6.11, 6.17). */
export function mergeEndpoints(
  { surface, names, records, present }: SurfaceContext,
  answers: RevisionResponses,
): Endpoint[] {
  const { family, path, singular, plural } = surface
  const { artifactRef, variantRef } = parentsBeside(names)

  const said = { message: { names: ['message'], schema: message } }
  const tried = { dryRun: { names: ['dry_run'], schema: z.boolean() } }
  const shared = { ...said, resolutions: { names: ['resolutions'], schema: resolutions }, ...tried }
  const expected = { expectedTarget: { names: ['expected_target'], schema: uuid } }
  /** A revision, and the variant that it names by itself unless the request does. */
  const ofRevision = {
    revision: { names: ['revision'], schema: reference, required: true as const },
    target: { names: ['target'], schema: targetSide },
    artifactRef,
    variantRef,
    ...parentIdsBeside(names),
  }
  const output = z.union([
    single(`${singular}_revision`, records.revision, { merge: mergeOutcome }),
    z.strictObject({ count: z.literal(1), merge: mergeOutcome }),
  ])

  const targetOf = async (registry: Registry, reference: SideReference): Promise<VariantLocation> => {
    const { variant } = await findSide(registry, family, reference, surface)
    if (!variant) throw new Error('a target is a variant')
    return variant
  }

  const outcomeOf = async (
    artifact: ArtifactView,
    { kind, base, conflicts, total, resolved }: MergeOutcome,
  ): Promise<object> => {
    const found = base === undefined ? undefined : await homeOf(artifact, base)
    return {
      kind,
      base: found ? presentShort(await readRevisionAt(found), present) : null,
      conflicts,
      resolved,
      ...(total > conflicts.length && { truncated: true, total }),
    }
  }

  const answer = async (merged: Merged, asked: Reading | undefined): Promise<EndpointResponse> => {
    const { artifact, place, kind, base, resolved } = merged
    const merge = await outcomeOf(artifact, merged)
    // A repeated dry run simply runs again.
    if (!place) return { body: { count: 1, merge }, address: { id: artifact.id } }
    const response = await answers.fresh(place, asked, { merge })
    const id = objectUuid(place.oid, artifact.digits)
    const baseId = base === undefined ? {} : { base: objectUuid(base, artifact.digits) }
    // After a fast-forward, two variants have the same revision.
    const variant = place.variant.id
    return { ...response, address: { id, variant, merge: { kind, resolved, ...baseId } } }
  }

  const recall = async (
    { registry, input }: Call<WithReadOptions<object>>,
    address: ResultAddress,
  ): Promise<EndpointResponse> => {
    const place = await recalledPlace(registry, family, address)
    const { kind = 'merge', base: baseId, resolved = 0 } = address.merge ?? {}
    const base = baseId === undefined ? undefined : await findRevisionById(place.artifact, baseId)
    const merged: Merged = {
      artifact: place.artifact,
      place,
      kind: kind as Merged['kind'], // what `answer` noted
      base: base?.oid,
      conflicts: [],
      total: 0,
      resolved,
    }
    return answer(merged, input.asked)
  }

  /** The revision, and the variant that is written to: the request's target, or the one that the revision names (interface 4.30). */
  const placeAndTarget = async (
    registry: Registry,
    input: Beside & { readonly revision: Reference; readonly target?: SideReference | undefined },
  ): Promise<{ readonly place: RevisionLocation; readonly target: VariantLocation }> => {
    const place = await resolveReference(registry, family, { revision: input.revision })
    const beside = parentsOf(names, {}, input)
    if (input.target && (beside.variant ?? beside.artifact)) throw saidTwice()
    const target = input.target
      ? await targetOf(registry, input.target)
      : await variantBeside(registry, place, beside)
    return { place, target }
  }

  /** The common part of all four; a dry run stores nothing, so the scope read is enough for it. */
  const written = {
    method: 'POST',
    tag: plural,
    scope: 'write',
    orScope: 'read',
    output,
  } as const

  /** One of the four endpoints; it answers the result of `write`. */
  const merging = <I extends { readonly dryRun: boolean | undefined }>(
    definition: Pick<Endpoint, 'path' | 'summary' | 'example' | 'fromQuery'> & {
      readonly input: z.ZodType<I>
    },
    write: (call: Call<I>) => Promise<Merged>,
  ): Endpoint => {
    const run = async (call: Call<WithReadOptions<I>>): Promise<EndpointResponse> => {
      assertMayWrite(call, call.input.dryRun)
      return answer(await unlessUnseen(call, () => write(call)), call.input.asked)
    }
    return endpoint({
      ...written,
      ...definition,
      ...withReadOptions(surface, definition),
      run,
      recall: (call, address) => (call.input.dryRun ? run(call) : recall(call, address)),
    })
  }

  return [
    merging(
      {
        path: `/${path}/variants/merge`,
        summary: 'Merge a side into a variant; of a dry run, what that would come to',
        input: envelope({
          source: { names: ['source'], schema: side, required: true },
          target: { names: ['target'], schema: targetSide, required: true },
          ...expected,
          fastForward: { names: ['fast_forward'], schema: z.boolean() },
          ...shared,
        }),
        example: {
          source: { variant: { slug: 'support-bot-warm' } },
          target: { variant: { slug: 'support-bot' } },
          dry_run: true,
        },
      },
      async ({ registry, input, context, untilGone }) => {
        const options = { ...input, signal: untilGone() }
        const target = await targetOf(registry, input.target)
        const source = await findSource(registry, () => findSide(registry, family, input.source, surface))
        return mergeVariants(registry, { ...options, source, target }, context)
      },
    ),
    merging(
      {
        path: `/${path}/revisions/revert`,
        summary: 'Undo on a variant what a revision changed, in a new revision',
        input: envelope({ ...ofRevision, ...shared }),
        fromQuery: parentsInQuery(names),
        example: { revision: { slug: 'support-bot', version: 2 } },
      },
      async ({ registry, input, context, untilGone }) => {
        const options = { ...input, signal: untilGone() }
        const { place, target } = await placeAndTarget(registry, input)
        return revertRevision(registry, await readRevisionAt(place), target, options, context)
      },
    ),
    merging(
      {
        path: `/${path}/revisions/restore`,
        summary: 'Make on a variant what an earlier revision holds, whatever lies between, in a new revision',
        input: envelope({ ...ofRevision, ...expected, ...said, ...tried }),
        fromQuery: parentsInQuery(names),
        example: {
          revision: { slug: 'support-bot', version: 2 },
          target: { variant: { slug: 'support-bot' } },
        },
      },
      async ({ registry, input, context, untilGone }) => {
        const options = { ...input, signal: untilGone() }
        const { place, target } = await placeAndTarget(registry, input)
        return restoreRevision(registry, await readRevisionAt(place), target, options, context)
      },
    ),
    merging(
      {
        path: `/${path}/revisions/cherry-pick`,
        summary: 'Make on a variant what a revision of another one changed, with its author and message',
        input: envelope({
          revision: { names: ['revision'], schema: reference, required: true },
          target: { names: ['target'], schema: targetSide, required: true },
          ...shared,
        }),
        example: {
          revision: { slug: 'support-bot-warm', version: 3 },
          target: { variant: { slug: 'support-bot' } },
        },
      },
      async ({ registry, input, context, untilGone }) => {
        const options = { ...input, signal: untilGone() }
        const { revision } = input
        const place = await findSource(registry, () => resolveReference(registry, family, { revision }))
        const target = await targetOf(registry, input.target)
        return cherryPickRevision(registry, await readRevisionAt(place), target, options, context)
      },
    ),
  ]
}

function saidTwice(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The request says twice what is to be written to, with "target" and with a variant or artifact beside it. Send one of them.',
  )
}

/** The result of a merge. Conflicts show stored content, so a key without `read` only learns that there are some. */
async function unlessUnseen({ caller }: Call<unknown>, write: () => Promise<Merged>): Promise<Merged> {
  try {
    return await write()
  } catch (error) {
    if (caller.may.read || !(error instanceof Refusal) || error.code !== 'merge_conflict') throw error
    throw new Refusal(
      'merge_conflict',
      'Both sides changed the same, each in its own way. Which places these are is shown to a key with the scope "read"; use one.',
    )
  }
}

/** Refuses a key that may not do this: a dry run shows stored content, anything else stores. */
function assertMayWrite({ caller: { may } }: Call<unknown>, dryRun: boolean | undefined): void {
  const scope = dryRun ? 'read' : 'write'
  if (dryRun ? may.read : may.write) return
  throw new Refusal(
    'missing_scope',
    dryRun
      ? 'The key lacks the scope "read", which a dry run needs: it shows what is stored. Use a key that has it.'
      : 'The key lacks the scope "write". Use a key that has it, or send "dry_run": true to see what the request would do.',
    { details: { scope } },
  )
}
