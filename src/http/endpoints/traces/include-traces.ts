import { z } from 'zod'
import { entriesOf, isJsonObject, type Json, JsonText, stringifyJson } from '../../../base/json.ts'
import {
  type ProjectTraces,
  savedQuery,
  flatTraces,
  traceIdsOf,
  type TraceWindow,
} from '../../../feeds/traces.ts'
import type { PresentedPayload } from '../../../registry/families.ts'
import type { Registry } from '../../../registry/registries.ts'
import { savedQuestion } from './trace-query.ts'
import type { Enrich, Enrichment } from '../../schemas/enrichment.ts'
import { presentWindow, traceWindowInfo, traceWindowing } from '../../schemas/trace.ts'

/**
 * What a retrieve of a query may return with it: the ids of the traces it finds (`include_trace_ids`), or the
 * traces with their ids (`include_traces`); interface 13.5.
 */
export function includeTraces(tracesOf: (registry: Registry) => ProjectTraces): Enrichment {
  const input = z
    .object({
      include_trace_ids: z.boolean().optional(),
      include_traces: z.boolean().optional(),
      windowing: traceWindowing.optional(),
    })
    .transform(({ include_trace_ids: ids = false, include_traces: whole = false, windowing = {} }) => ({
      enrich: ids || whole ? withTraces(tracesOf, windowing, whole) : undefined,
    }))
  return {
    input,
    booleans: ['include_trace_ids', 'include_traces'],
    output: { windowing: traceWindowInfo.optional() },
  }
}

function withTraces(
  tracesOf: (registry: Registry) => ProjectTraces,
  windowing: TraceWindow,
  whole: boolean,
): Enrich {
  return async (registry, payload) => {
    // A query's payload is a complete document.
    const data = payload.data as Json | undefined
    if (!isJsonObject(data)) return payload
    const saved = savedQuery(data)
    const question = savedQuestion(saved.focus ?? 'trace', saved, windowing)
    const { spans, next } = await tracesOf(registry).query(question)
    const found = { trace_ids: traceIdsOf(spans), ...(whole ? { traces: flatTraces(spans) } : {}) }
    return {
      data: new JsonText(stringifyJson({ ...Object.fromEntries(entriesOf(data)), ...found })),
      ...(next === undefined ? {} : { windowing: presentWindow({ ...question.window, next }) }),
    } satisfies PresentedPayload
  }
}
