import { invalid, Refusal } from '../../../errors.ts'
import { type Json, parseJson, stringifyJson } from '../../../base/json.ts'
import { readTraceFilter, type TraceFilter } from '../filter/trace-filter.ts'
import type { SpanRow } from '../span-record.ts'
import { readSpanId, readTraceId } from '../trace-ids.ts'

/** The requested part of the matching traces or spans, newest first by default (interface 12.11). Times are in microseconds. */
export interface TraceWindow {
  readonly order?: 'ascending' | 'descending' | undefined
  /** They began at this time or later. */
  readonly oldest?: number | undefined
  /** They began before this time; with a cursor, at it as well. */
  readonly newest?: number | undefined
  /** The cursor after which the page starts: the `next` of the previous answer, or the id of its last row. */
  readonly next?: string | undefined
  readonly limit?: number | undefined
  /** The share of all traces, approximately; always the same traces. */
  readonly rate?: number | undefined
}

/** A query over all traces of a project. */
export interface TraceQuestion {
  /** `trace`: whole traces with a matching span. `span`: matching spans. */
  readonly focus: 'trace' | 'span'
  /** The text of a filtering that was checked; undefined filters nothing. */
  readonly filtering: string | undefined
  readonly window: TraceWindow
  /** For traces: only the root spans. */
  readonly headsOnly?: boolean | undefined
}

/** A page of the answer: spans; for a query of traces, each trace's spans are together. */
export interface TracePage {
  readonly spans: readonly SpanRow[]
  /** The cursor after the last row; set exactly if more rows remain (interface 2.18). */
  readonly next: string | undefined
}

export interface ReadQuestion {
  readonly filter: TraceFilter | undefined
  /** The query's window; for a filter that only names traces, just its order and cursor. */
  readonly window: TraceWindow
}

/** Parses the filtering of a query, which was checked before. */
export function readQuestion({ filtering, window }: TraceQuestion): ReadQuestion {
  const filter =
    filtering === undefined
      ? undefined
      : readTraceFilter(parseJson(filtering, { maxDepth: MOST_RECORD_LEVELS }), [])
  const { order, next } = window
  return { filter, window: filter?.onlyNamesTraces ? { order, next } : window }
}

/** Deeper than the body of any recorded request. */
export const MOST_RECORD_LEVELS = 2000

/** Collects a page until it reaches its limit, or the maximum size of an answer. */
export class PageBuilder {
  readonly spans: SpanRow[] = []
  /** The trace that was added last. */
  lastTrace: string | undefined
  next: string | undefined
  #left: number
  #room = MAX_CHARACTERS_PER_PAGE

  constructor(limit: number | undefined) {
    this.#left = limit ?? Number.POSITIVE_INFINITY
  }

  get isFull(): boolean {
    return this.#left <= 0 || this.#room <= 0
  }

  addTrace(traceId: string, spans: readonly SpanRow[]): void {
    this.#add(spans, traceId, traceId)
  }

  addSpan(span: SpanRow): void {
    this.#add([span], span.trace_id, `${span.trace_id}.${span.span_id}`)
  }

  #add(spans: readonly SpanRow[], traceId: string, next: string): void {
    for (const span of spans) {
      this.spans.push(span)
      this.#room -= span.record.length
    }
    this.#left--
    this.lastTrace = traceId
    this.next = next
  }
}

/** The maximum characters of a page's records; a single trace may have more. */
const MAX_CHARACTERS_PER_PAGE = 16 * 1024 * 1024

/** Adapts the number of rows per fetch: more while rows are small. */
export class ChunkLimit {
  rows: number

  /** Starts with few rows, unless they are known to be small. */
  constructor(rows = 10) {
    this.rows = rows
  }

  /** Adapts to the fetched rows; `count` is the number of traces if traces were fetched. */
  learn(rows: readonly SpanRow[], count = rows.length): void {
    const size = rows.reduce((sum, { record }) => sum + record.length, 0)
    this.rows = Math.max(1, Math.min(MOST_ROWS, Math.floor((CHARACTERS_PER_FETCH * count) / (size + 1))))
  }
}

/** The maximum rows of a fetch, and its approximate characters. */
export const MOST_ROWS = 200
const CHARACTERS_PER_FETCH = 4 * 1024 * 1024

/** The refusal of an unknown cursor. */
export function noSuchPlace(next: string): Refusal {
  const msg = `"${next}" is not the place of a row of this list. Send the \`next\` of the previous answer; the row may have been removed since`
  const loc = ['body', 'windowing', 'next']
  return new Refusal('invalid_request', `${loc.join('.')}: ${msg}.`, {
    errors: [{ loc, msg, type: 'invalid_cursor' }],
  })
}

/** The upper bound of the last eight digits of trace ids for a share of all traces; these digits are random. */
export function sampleBound(rate: number | undefined): string | undefined {
  if (rate === undefined || rate >= 1) return undefined
  return Math.floor(rate * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** A filtering in a request, and its place there. */
export interface SentFiltering {
  readonly value: Json
  readonly loc: readonly (string | number)[]
}

/** Checks a query; refuses with `invalid_request`. */
export function traceQuestion(
  focus: TraceQuestion['focus'],
  filtering: SentFiltering | undefined,
  window: TraceWindow,
): TraceQuestion {
  if (filtering) readTraceFilter(filtering.value, filtering.loc)
  const next = window.next === undefined ? undefined : cursorOf(focus, window.next)
  return { focus, filtering: filtering && stringifyJson(filtering.value), window: { ...window, next } }
}

/** The same question, of whose answer each trace also has a span that fulfils the condition. */
export function narrowed(question: TraceQuestion, condition: Json): TraceQuestion {
  const { focus, filtering, window } = question
  const own = filtering === undefined ? [] : [parseJson(filtering, { maxDepth: MOST_RECORD_LEVELS })]
  const value = { operator: 'and', conditions: [...own, condition] }
  return { ...question, ...traceQuestion(focus, { value, loc: ['body', 'filtering'] }, window) }
}

/** A trace's cursor is its id. A span's cursor is both ids, or its own with the start time of the window. */
function cursorOf(focus: TraceQuestion['focus'], next: string): string {
  const [first = '', second] = next.split('.')
  const traceId = readTraceId(first)
  if (focus === 'trace' && traceId !== undefined) return traceId
  const spanId = readSpanId(second ?? first)
  if (focus === 'span' && spanId !== undefined)
    return traceId === undefined || second === undefined ? spanId : `${traceId}.${spanId}`
  throw invalid(
    ['body', 'windowing', 'next'],
    `${JSON.stringify(next.slice(0, 80))} is no place in a list of ${focus}s. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
