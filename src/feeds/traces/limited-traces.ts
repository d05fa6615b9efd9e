import { groupBy, type JsonObject } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { isAnnotation, linkIn } from './annotations.ts'
import type { Registry } from '../../registry/registries.ts'
import type { ProjectTraces } from './project-traces.ts'
import { noSuchPlace, type TracePage, type TraceQuestion, type TraceWindow } from './query/trace-page.ts'
import { tooSlow } from './query/trace-reader.ts'
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
    const byTrace = [...groupBy(whole, ({ trace_id: id }) => id)]
    const about = byTrace.map(([id, spans]) => [id, spans, annotated(spans)] as const)
    // An annotation is seen with the trace that it is about.
    const targets = about.flatMap(([, , target]) => target ?? [])
    const seenTargets = targets.length === 0 ? NONE : await seenAmong([...new Set(targets)])
    return new Set(
      about.flatMap(([id, spans, target]) => {
        if (target === undefined) return isSeen(spans, limit.seesId) ? id : []
        return seenTargets.has(target) && namedIn(spans).every(sees) ? id : []
      }),
    )
  }
  const sees = ({ id }: Named): boolean => id !== undefined && limit.seesId(id)
  const limited: Partial<ProjectTraces> = {
    record: (spans) => traces.record(spans),
    stored: () => traces.stored(),
    read: async (traceIds) => {
      const seen = await seenAmong(traceIds)
      return traces.read(traceIds.filter((id) => seen.has(id)))
    },
    query: async (question, signal) => {
      const { next: from } = question.window
      const begin = readTraceId(from?.split('.', 1)[0] ?? '') ?? ''
      if (from !== undefined && !(await seenAmong([begin])).has(begin)) throw noSuchPlace(from)
      const slice = new TimeSlice(signal, () => tooSlow(traces.queryMs), traces.queryMs)
      for (let { window } = question; ;) {
        const { spans, next } = await traces.query({ ...question, window }, signal)
        const seen = await seenAmong([...new Set(spans.map(({ trace_id: id }) => id))])
        const page = firstOf(
          spans.filter(({ trace_id: id }) => seen.has(id)),
          question,
          next !== undefined,
        )
        if (page.spans.length > 0 || next === undefined) return page
        window = { ...window, next, limit: longer(window) }
        await slice.rest()
      }
    },
    isOpenTo: async (traceId) =>
      (await seenAmong([traceId])).has(traceId) || (await traces.read([traceId])).length === 0,
    remove: async (traceId) => (await seenAmong([traceId])).has(traceId) && traces.remove(traceId),
  }
  return limited as ProjectTraces // requests of such keys use no more of it
}

/** Where a key sees nothing, the next look is at more rows, up to this many. */
const MOST_ROWS_AT_ONCE = 200

function longer({ limit }: TraceWindow): number | undefined {
  return limit === undefined ? undefined : Math.max(limit, Math.min(2 * limit, MOST_ROWS_AT_ONCE))
}

/** As many rows as were asked for. Their cursor is the last one that is seen: that of another one would tell its id. */
function firstOf(spans: readonly SpanRow[], { focus, window }: TraceQuestion, hasMore: boolean): TracePage {
  const places = spans.map((span) => placeOf(focus, span))
  const kept = new Set([...new Set(places)].slice(0, window.limit))
  const first = spans.filter((_, at) => kept.has(places[at] ?? ''))
  const last = first.at(-1)
  const isCut = hasMore || first.length < spans.length
  return { spans: first, next: isCut && last ? placeOf(focus, last) : undefined }
}

function placeOf(focus: TraceQuestion['focus'], { trace_id: trace, span_id: span }: SpanRow): string {
  return focus === 'trace' ? trace : `${trace}.${span}`
}

const NONE: ReadonlySet<string> = new Set()

/** The trace that an annotation is about; undefined for any other trace. */
function annotated([root]: readonly SpanRow[]): string | undefined {
  const record = root && (JSON.parse(root.record) as JsonObject) // a record is an object
  return record && isAnnotation(record) ? linkIn(record, 'invocation') : undefined
}

interface Named {
  readonly id?: string | undefined
}

function namedIn(spans: readonly SpanRow[]): readonly Named[] {
  return spans.flatMap(({ record }) => {
    const { references = [] } = JSON.parse(record) as { readonly references?: readonly Named[] }
    return references
  })
}

function isSeen(spans: readonly SpanRow[], seesId: (id: string) => boolean): boolean {
  const named = namedIn(spans)
  return named.length > 0 && named.every(({ id }) => id !== undefined && seesId(id))
}
