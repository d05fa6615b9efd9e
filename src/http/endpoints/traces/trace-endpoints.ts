import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { JsonText } from '../../../base/json.ts'
import {
  narrowed,
  NO_ANNOTATION,
  type ProjectAnnotations,
  type ProjectTraces,
  type TracePage,
  type TraceQuestion,
  traceTrees,
} from '../../../feeds/traces.ts'
import type { Registry } from '../../../registry/registries.ts'
import { traceQuery } from './trace-query.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { envelope } from '../../schemas/spellings.ts'
import { queryIds, queryWindowing } from '../../schemas/queries/query-parameters.ts'
import { single } from '../../schemas/record-schemas.ts'
import { anyJson, jsonObject, reference } from '../../schemas/request-schemas.ts'
import { presentAnnotation } from '../../schemas/annotation.ts'
import type { SurfaceContext } from '../../surface-context.ts'
import {
  presentWindow,
  spanId,
  spanRecordSchema,
  traceId,
  traceList,
  traceRecord,
  traceWindowing,
} from '../../schemas/trace.ts'

const MAX_TRACE_IDS = 100

const asked = {
  filtering: { names: ['filtering'], schema: anyJson },
  windowing: { names: ['windowing'], schema: traceWindowing },
  artifact: { names: ['query_ref'], schema: reference },
  variant: { names: ['query_variant_ref'], schema: reference },
  revision: { names: ['query_revision_ref'], schema: reference },
} as const

const query = envelope(asked)

/** Where traces are, and what was said of them. */
interface TracePlace extends Pick<SurfaceContext, 'namesOf'> {
  tracesOf(registry: Registry): ProjectTraces
  annotationsOf(registry: Registry): ProjectAnnotations
}

/** Traces and spans by id, and lists filtered by a query (interface 12.11). */
export function traceEndpoints({ tracesOf, annotationsOf, namesOf }: TracePlace): Endpoint[] {
  const tag = 'traces'
  const byId = { path: '/traces/:id', params: z.object({ id: traceId }), tag } as const
  return [
    endpoint({
      method: 'POST',
      path: '/traces/query',
      tag,
      summary:
        'Traces of which a span matches, newest first, whole, as trees; by a filtering or by a saved query',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        ...asked,
        headsOnly: {
          names: ['heads_only'],
          schema: z.boolean().meta({ description: 'Without the spans below the first level: for a list.' }),
        },
        draft: {
          names: ['draft'],
          schema: z
            .boolean()
            .meta({ description: 'Only traces of what was run without being committed, or only others.' }),
        },
        annotated: {
          names: ['annotated'],
          schema: jsonObject.meta({
            description:
              'Only traces whose newest annotation with these members of outputs has these values: {"approved": true}.',
          }),
        },
        includeAnnotations: {
          names: ['include_annotations'],
          schema: z.boolean().meta({
            description: 'With the annotations of each trace, newest first, in place of their own traces.',
          }),
        },
      }),
      fromQuery: queryWindowing,
      output: traceList('traces', traceRecord),
      example: {
        filtering: {
          conditions: [
            { field: 'span_name', operator: 'startswith', value: 'completion' },
            { field: 'attributes', key: 'svc.metrics.duration.cumulative', operator: 'gt', value: 1000 },
          ],
        },
        windowing: { oldest: '2026-03-01T00:00:00Z', limit: 20 },
      },
      run: async ({ registry, input, untilGone }) => {
        const { headsOnly, annotated, includeAnnotations, ...named } = input
        const whole = { ...(await traceQuery(registry, 'trace', named)), headsOnly }
        const asked = includeAnnotations ? narrowed(whole, NO_ANNOTATION) : whole
        const annotations = annotationsOf(registry)
        const ids = annotated && (await annotations.annotated(annotated, asked.window.oldest, untilGone()))
        const question = ids ? narrowed(asked, { field: 'trace_id', operator: 'in', value: ids }) : asked
        const page =
          ids?.length === 0
            ? { spans: [], next: undefined }
            : await tracesOf(registry).query(question, untilGone())
        const trees = traceTrees(page.spans)
        if (!includeAnnotations) return answerPage('traces', trees, page, question)
        const said = await annotations.of(trees.map((it) => it.trace_id))
        const names = namesOf(registry)
        const withSaid = trees.map((it) => ({
          ...it,
          annotations: (said.get(it.trace_id) ?? []).map((one) => presentAnnotation(one, names)),
        }))
        return answerPage('traces', withSaid, page, question)
      },
    }),
    endpoint({
      method: 'POST',
      path: '/spans/query',
      tag,
      summary: 'Spans that match, newest first; by a filtering or by a saved query',
      scope: 'read',
      optionalBody: true,
      input: query,
      fromQuery: queryWindowing,
      output: traceList('spans', spanRecordSchema),
      example: {
        filtering: { conditions: [{ field: 'status_code', value: 'STATUS_CODE_ERROR' }] },
        windowing: { limit: 20 },
      },
      run: async ({ registry, input, untilGone }) => {
        const question = await traceQuery(registry, 'span', input)
        const page = await tracesOf(registry).query(question, untilGone())
        const records = page.spans.map(({ record }) => new JsonText(record))
        return answerPage('spans', records, page, question)
      },
    }),
    endpoint({
      method: 'GET',
      path: '/traces',
      tag,
      summary: 'Traces by id: ?trace_ids=a,b and ?trace_id=c, as often as wanted',
      scope: 'read',
      input: z.object({ trace_ids: z.array(traceId).max(MAX_TRACE_IDS).optional() }),
      fromQuery: queryIds('trace'),
      output: traceList('traces', traceRecord),
      run: async ({ registry, input }) => {
        const { trace_ids: ids } = input
        if (!ids?.length)
          throw new Refusal('incomplete_reference', 'Say which traces: send trace_id or trace_ids.')
        const traces = traceTrees(await tracesOf(registry).read([...new Set(ids)]))
        return { body: { count: traces.length, traces } }
      },
    }),
    endpoint({
      ...byId,
      method: 'GET',
      summary: 'The trace of this id, as a tree of its spans',
      scope: 'read',
      output: single('trace', traceRecord),
      run: async ({ registry, params: { id = '' } }) => {
        const [trace] = traceTrees(await tracesOf(registry).read([id]))
        if (!trace) throw traceNotFound(id)
        return { body: { count: 1, trace } }
      },
    }),
    endpoint({
      ...byId,
      method: 'DELETE',
      summary: 'Remove the trace with all its spans, for good',
      scope: 'write',
      output: z.strictObject({ count: z.literal(1), trace_id: z.string() }),
      run: async ({ registry, params: { id = '' } }) => {
        const annotations = annotationsOf(registry)
        const annotation = await annotations.get(id).catch(unlessNone)
        if (!(await tracesOf(registry).remove(id))) throw traceNotFound(id)
        await annotations.forget(id, annotation)
        return { body: { count: 1, trace_id: id } }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/spans/:trace_id/:span_id',
      params: z.object({ trace_id: traceId, span_id: spanId }),
      tag,
      summary: 'The span of these ids',
      scope: 'read',
      output: single('span', spanRecordSchema),
      run: async ({ registry, params: { trace_id: inTrace = '', span_id: id = '' } }) => {
        const spans = await tracesOf(registry).read([inTrace])
        if (spans.length === 0) throw traceNotFound(inTrace)
        const span = spans.find((it) => it.span_id === id)
        if (!span) throw new Refusal('span_not_found', `The trace ${inTrace} has no span with the id ${id}.`)
        return { body: { count: 1, span: new JsonText(span.record) } }
      },
    }),
  ]
}

function unlessNone(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'annotation_not_found') throw error
}

function answerPage(
  key: string,
  records: readonly object[],
  { next }: TracePage,
  { window }: TraceQuestion,
): EndpointResponse {
  return {
    body: {
      count: records.length,
      [key]: records,
      ...(next === undefined ? {} : { windowing: presentWindow({ ...window, next }) }),
    },
  }
}

function traceNotFound(id: string): Refusal {
  return new Refusal(
    'trace_not_found',
    `There is no trace with the id ${id}; it may have been removed for its age (TRACES_MAX_AGE_DAYS, TRACES_MAX_BYTES).`,
  )
}
