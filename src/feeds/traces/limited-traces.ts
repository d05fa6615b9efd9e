import { groupBy } from '../../base/json.ts'
import type { Registry } from '../../registry/registries.ts'
import type { ProjectTraces } from './project-traces.ts'
import { noSuchPlace, type TraceQuestion } from './query/trace-page.ts'
import type { SpanRow } from './span-record.ts'
import { readTraceId } from './trace-ids.ts'

/**
 * The traces that a key limited to folders sees (interface 18.8): those that name something, and of which the key sees all that they name.
 * A page may be shorter than its limit. What runs record is recorded as ever.
 */
export function limitedTraces(
  traces: ProjectTraces,
  limit: Pick<NonNullable<Registry['limit']>, 'seesId'>,
): ProjectTraces {
  /** Of these traces, those that are seen: judged by all of their spans. */
  const seenAmong = async (traceIds: readonly string[]): Promise<ReadonlySet<string>> => {
    const whole = traceIds.length === 0 ? [] : await traces.read(traceIds)
    const byTrace = groupBy(whole, ({ trace_id: id }) => id)
    return new Set([...byTrace].flatMap(([id, spans]) => (isSeen(spans, limit.seesId) ? id : [])))
  }
  const limited: Partial<ProjectTraces> = {
    record: (spans) => traces.record(spans),
    stored: () => traces.stored(),
    read: async (traceIds) => {
      const seen = await seenAmong(traceIds)
      return traces.read(traceIds.filter((id) => seen.has(id)))
    },
    query: async (question) => {
      const { next: from } = question.window
      const begin = readTraceId(from?.split('.', 1)[0] ?? '') ?? ''
      if (from !== undefined && !(await seenAmong([begin])).has(begin)) throw noSuchPlace(from)
      for (let { window } = question; ;) {
        const { spans, next } = await traces.query({ ...question, window })
        const seen = await seenAmong([...new Set(spans.map(({ trace_id: id }) => id))])
        const own = spans.filter(({ trace_id: id }) => seen.has(id))
        // The place of the last row that is seen: that of one which is not would tell its id.
        const last = own.at(-1)
        if (next === undefined) return { spans: own, next }
        if (last) return { spans: own, next: placeOf(question.focus, last) }
        window = { ...window, next }
      }
    },
    remove: async (traceId) => (await seenAmong([traceId])).has(traceId) && traces.remove(traceId),
  }
  return limited as ProjectTraces // requests of such keys use no more of it
}

function placeOf(focus: TraceQuestion['focus'], { trace_id: trace, span_id: span }: SpanRow): string {
  return focus === 'trace' ? trace : `${trace}.${span}`
}

function isSeen(spans: readonly SpanRow[], seesId: (id: string) => boolean): boolean {
  const named = spans.flatMap(({ record }) => {
    const { references = [] } = JSON.parse(record) as { readonly references?: readonly { id?: string }[] }
    return references
  })
  return named.length > 0 && named.every(({ id }) => id !== undefined && seesId(id))
}
