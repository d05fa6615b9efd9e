import { z } from 'zod'
import { invalid } from '../../errors.ts'
import type { Reading } from '../../registry/families.ts'
import { unlessDamaged, type Window, type Windowing, type Registry } from '../../registry/registries.ts'
import type { Oid } from '../../git/objects.ts'
import { type Arrival, arrivalsOf } from '../../registry/push.ts'
import { logRevisions, logStart, type Revision } from '../../registry/revisions.ts'
import { presentArrival, presentPayload, presentRevision } from '../revisions/record.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithLargeList } from '../routing/send.ts'
import { envelope, parentFields, parentsBeside, parentsOf, spellings } from '../schemas/spellings.ts'
import { withReadOptions } from '../schemas/queries/read-options.ts'
import { list } from '../schemas/record-schemas.ts'
import { depth, windowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `POST …/revisions/log` of a surface (interface 4.20). */
export function logEndpoint(context: SurfaceContext, answerRevisions: AnswerRevisions): Endpoint {
  const { surface, names, records } = context
  const { family, path, singular } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/log`,
    tag: surface.plural,
    summary: 'The revisions of a variant, newest first, without payloads unless include_data is true',
    scope: 'read',
    ...withReadOptions(surface, {
      input: envelope({
        of: {
          names: [
            ...names.singulars,
            ...spellings(names, '_revisions'),
            ...spellings(names, '_revision'),
            ...spellings(names, '_variant'),
          ],
          schema: z.object({
            ...parentFields(names, ['', '_variant', '_revision']),
            depth: depth.optional(),
            include_data: z.boolean().optional(),
            include_archived: z.boolean().optional(),
          }),
        },
        ...parentsBeside(names),
        depth: { names: ['depth'], schema: depth },
        includeData: { names: ['include_data'], schema: z.boolean() },
        includeArchived: { names: ['include_archived'], schema: z.boolean() },
        windowing: { names: ['windowing'], schema: windowing },
      }),
    }),
    output: list(`${singular}_revisions`, records.revision),
    example: { [singular]: { [`${singular}_variant_ref`]: { slug: 'support-bot' } } },
    run: async ({ registry, input, untilGone }) => {
      const { of = {} } = input
      const parents = parentsOf(names, of, input)
      const isNamed = parents.artifact ?? parents.variant ?? parents.revision
      if (!input.of && !isNamed)
        throw invalid(['body', singular], 'this field is required, or a reference beside it.', 'missing')
      const start = await logStart(registry, family, parents)
      const withData = input.includeData ?? of.include_data ?? false
      const signal = untilGone()
      const window = start
        ? await logRevisions(start, {
            withData,
            depth: input.depth ?? of.depth,
            includeArchived: input.includeArchived ?? of.include_archived,
            windowing: input.windowing,
            signal,
          })
        : { rows: [], next: undefined }
      const arrivals = start
        ? await arrivalsOf(
            start.artifact.repository,
            window.rows.map(({ oid }) => oid),
          )
        : NONE
      return answerRevisions(registry, window, { ...input, signal }, withData, arrivals)
    },
  })
}

const NONE: ReadonlyMap<Oid, Arrival> = new Map()

export type AnswerRevisions = ReturnType<typeof listRevisions>

/**
 * Answers a list of revisions. Each has its payload, unless that is left out or unreadable, and its arrival
 * if that was requested.
 */
export function listRevisions({ surface, present, namesOf }: SurfaceContext) {
  return (
    registry: Registry,
    window: Window<Revision>,
    {
      windowing: page,
      asked,
      signal,
    }: {
      readonly windowing?: Windowing | undefined
      readonly asked?: Reading | undefined
      readonly signal: AbortSignal
    },
    withData: boolean,
    arrivals = NONE,
  ): Promise<EndpointResponse> => {
    const names = arrivals.size > 0 ? namesOf(registry) : new Map<string, string>()
    return respondWithLargeList(`${surface.singular}_revisions`, window, page, async (revision) => {
      const arrival = arrivals.get(revision.oid)
      return presentRevision(
        revision,
        present,
        withData
          ? await unlessDamaged(registry, revision.artifact, async () =>
              presentPayload(revision, { ...present, signal }, asked),
            )
          : undefined,
        arrival && presentArrival(arrival, names),
      )
    })
  }
}
