import { invalid, Refusal } from '../../errors.ts'
import type { Json } from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { readTraceFilter, type TraceFilter } from './filter/trace-filter.ts'
import type { SpanRow } from '../recording/span-record.ts'
import { readSpanId, readTraceId } from '../trace-ids.ts'

/** Which traces or spans of those that match, newest first unless ascending (interface 12.11). Times are in microseconds. */
export interface TraceWindow {
  readonly order?: 'ascending' | 'descending' | undefined
  /** They began at this time or later. */
  readonly oldest?: number | undefined
  /** They began before this time; behind a cursor, at it as well. */
  readonly newest?: number | undefined
  /** Behind this one: the `next` of the answer before, or the id of its last row. */
  readonly next?: string | undefined
  readonly limit?: number | undefined
  /** About such a share of all traces, always the same ones. */
  readonly rate?: number | undefined
}

/** What is asked of all traces of a project. */
export interface TraceQuestion {
  /** Whole traces, one span of which matches; or the spans that match. */
  readonly focus: 'trace' | 'span'
  /** The text of a filtering that has been read before; undefined leaves nothing out. */
  readonly filtering: string | undefined
  readonly window: TraceWindow
  /** Of traces: the spans that head them, without those below. */
  readonly headsOnly?: boolean | undefined
}

/** A part of the answer: spans, those of one trace together when traces were asked for. */
export interface TracePage {
  readonly spans: readonly SpanRow[]
  /** Behind which row it goes on; there exactly when more remain (interface 2.18). */
  readonly next: string | undefined
}

/** A question as it is answered. */
export interface ReadQuestion {
  readonly filter: TraceFilter | undefined
  /** That of the question, but for a filter that does nothing but name traces. */
  readonly window: TraceWindow
}

/** Reads the filtering of a question again, which was checked before. */
export function readQuestion({ filtering, window }: TraceQuestion): ReadQuestion {
  const filter =
    filtering === undefined
      ? undefined
      : readTraceFilter(parseJson(filtering, { maxDepth: MOST_RECORD_LEVELS }), [])
  const { order, next } = window
  return { filter, window: filter?.onlyNamesTraces ? { order, next } : window }
}

/** More than a body that was recorded can be nested. */
export const MOST_RECORD_LEVELS = 2000

/** A page that is being filled: it ends at its limit, or where it has become as large as an answer should. */
export class PageBuilder {
  readonly spans: SpanRow[] = []
  /** The trace that was added last. */
  lastTrace: string | undefined
  next: string | undefined
  #left: number
  #room = PAGE_SIZE

  constructor(limit: number | undefined) {
    this.#left = limit ?? Number.POSITIVE_INFINITY
  }

  get isFull(): boolean {
    return this.#left <= 0 || this.#room <= 0
  }

  /** Adds the spans of a trace. */
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

/** Characters of records in one page, unless a single trace has more. */
const PAGE_SIZE = 16 * 1024 * 1024

/** How many rows are fetched at once, at most: more while they are small. */
export class ChunkLimit {
  rows: number

  /** At first a few, unless they are known to be small. */
  constructor(rows = 10) {
    this.rows = rows
  }

  /** Learns from what came: so many rows, or traces with these rows. */
  learn(rows: readonly SpanRow[], count = rows.length): void {
    const size = rows.reduce((sum, { record }) => sum + record.length, 0)
    this.rows = Math.max(1, Math.min(MOST_ROWS, Math.floor((CHUNK_SIZE * count) / (size + 1))))
  }
}

/** So many rows at most, and about so many characters. */
export const MOST_ROWS = 200
const CHUNK_SIZE = 4 * 1024 * 1024

/** The refusal of a cursor that names no row. */
export function noSuchPlace(next: string): Refusal {
  const msg = `"${next}" is not the place of a row of this list. Send the \`next\` of the previous answer; the row may have been removed since`
  const loc = ['body', 'windowing', 'next']
  return new Refusal('invalid_request', `${loc.join('.')}: ${msg}.`, {
    errors: [{ loc, msg, type: 'invalid_cursor' }],
  })
}

/** What a trace id has to be below, in its last eight digits, to belong to a share of all traces: they are random at their end. */
export function sampleBound(rate: number | undefined): string | undefined {
  if (rate === undefined || rate >= 1) return undefined
  return Math.floor(rate * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** A filtering that somebody sent, and where it stood. */
export interface SentFiltering {
  readonly value: Json
  readonly loc: readonly (string | number)[]
}

/** Checks a question before it is asked; refuses with `invalid_request`. */
export function traceQuestion(
  focus: TraceQuestion['focus'],
  filtering: SentFiltering | undefined,
  window: TraceWindow,
): TraceQuestion {
  if (filtering) readTraceFilter(filtering.value, filtering.loc)
  const next = window.next === undefined ? undefined : cursorOf(focus, window.next)
  return { focus, filtering: filtering && stringifyJson(filtering.value), window: { ...window, next } }
}

/** A trace by its id; a span by both, or by its own beside the time that the window begins at. */
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
