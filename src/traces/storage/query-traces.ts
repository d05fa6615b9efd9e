import { Refusal } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { TraceFilter } from '../query/filter/trace-filter.ts'
import { readTraceFilter } from '../query/filter/trace-filter.ts'
import type { TraceWindow } from '../query/trace-window.ts'
import { readTime } from '../span-time.ts'
import { sourcesOf } from './span-source.ts'
import { headsOfTrace, type SpanRow, spansOfTrace } from './stored-spans.ts'
import { ownSignal } from '../../storage/sqlite/thread-signal.ts'
import type { SqlValue } from '../../storage/sqlite/database-file.ts'
import type { TraceFile } from './trace-file.ts'

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
  /** Behind which row it goes on; there exactly when more remain (ruling 1.8). */
  readonly next: string | undefined
}

/**
 * Answers a question: walks the traces or spans in their order, lets SQL leave out what it can, and reads the records of the rest. A
 * page ends at its limit, or where it has become as large as an answer should.
 */
export function queryTraces(file: TraceFile, question: TraceQuestion): TracePage {
  const filter =
    question.filtering === undefined
      ? undefined
      : readTraceFilter(parseJson(question.filtering, { maxDepth: MOST_LEVELS }), [])
  const { order, next } = question.window
  const window = filter?.onlyNamesTraces ? { order, next } : question.window
  const traceWalk = filter ? FILTERED_TRACE_WALK : TRACE_WALK
  const walk = question.focus === 'trace' ? traceWalk : SPAN_WALK
  const read = question.headsOnly ? headsOfTrace : spansOfTrace
  const page = new Page(window.limit)
  for (const row of rowsOf(file, walk, filter, window)) {
    if (question.focus === 'trace' && row.trace_id === page.lastTrace) continue
    if (ownSignal.isEnding) throw new Error('the thread is to end')
    if (filter && !ownSignal.match(() => filter.matches(recordOf(row.record)))) continue
    if (page.isFull) return { spans: page.spans, next: page.next }
    if (question.focus === 'trace') page.add(read(file, row.trace_id), row.trace_id, row.trace_id)
    else page.add([row], row.trace_id, `${row.trace_id}.${row.span_id}`)
  }
  return { spans: page.spans, next: undefined }
}

/** Characters of records in one page, unless a single trace has more. */
const PAGE_SIZE = 16 * 1024 * 1024

class Page {
  readonly spans: SpanRow[] = []
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

  add(spans: readonly SpanRow[], traceId: string, next: string): void {
    for (const span of spans) {
      this.spans.push(span)
      this.#room -= span.record.length
    }
    this.#left--
    this.lastTrace = traceId
    this.next = next
  }
}

interface WalkedRow extends SpanRow {
  readonly start: string
}

/** How candidates are walked: from what, and by which columns they are ordered. */
interface Walk {
  readonly from: 'traces' | 'spans' | 'spansByTrace'
  readonly columns: string
  /** In order, behind the time that a window is about. */
  readonly ids: readonly ('trace_id' | 'span_id')[]
}

/** Traces by their beginning. */
const TRACE_WALK: Walk = {
  from: 'traces',
  columns: "s.trace_id, s.start, '' AS span_id, NULL AS parent_id, '' AS span_name, '' AS record",
  ids: ['trace_id'],
}

const COLUMNS = 's.trace_id, s.start, s.span_id, s.parent_id, s.span_name, s.record'

/** The same, each with its spans, for a filter to look at. */
const FILTERED_TRACE_WALK: Walk = { from: 'spansByTrace', columns: COLUMNS, ids: ['trace_id', 'span_id'] }

const SPAN_WALK: Walk = { from: 'spans', columns: COLUMNS, ids: ['span_id'] }

/** A row's place in the order of a walk, or as much of it as a cursor says: its time in microseconds, and its ids. */
type Place = readonly [start: number, ...ids: string[]]

/** Rows are fetched some at a time, so that nothing is left open between them: so many at most, and about so many characters. */
const MOST_ROWS = 200
const CHUNK_SIZE = 4 * 1024 * 1024

function* rowsOf(
  file: TraceFile,
  walk: Walk,
  filter: TraceFilter | undefined,
  window: TraceWindow,
): Iterable<WalkedRow> {
  let place = window.next === undefined ? undefined : cursorOf(file, walk, window, window.next)
  let limit = 10
  for (;;) {
    const rows = chunkOf(file, walk, filter, window, place, limit)
    yield* rows
    const last = rows.at(-1)
    if (rows.length < limit || !last) return
    place = placeOf(last, walk)
    const size = rows.reduce((sum, { record }) => sum + record.length, 0)
    limit = Math.max(1, Math.min(MOST_ROWS, Math.floor((CHUNK_SIZE * rows.length) / (size + 1))))
  }
}

/** The next rows behind a place, of all sources in one order. */
function chunkOf(
  file: TraceFile,
  walk: Walk,
  filter: TraceFilter | undefined,
  window: TraceWindow,
  place: Place | undefined,
  limit: number,
): WalkedRow[] {
  const isAscending = window.order === 'ascending'
  const direction = isAscending ? 'ASC' : 'DESC'
  const by = (time: string): string => [time, ...walk.ids].map((name) => `${name} ${direction}`).join()
  return file.snapshot(() => {
    const parts = sourcesOf(file).map((source) => {
      const conditions = [
        ...(filter?.where ? [filter.where] : []),
        ...rangeOf(source.began, window),
        ...(place ? [behind(walk, source.began, place, isAscending)] : []),
      ]
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`
      return {
        sql: `SELECT * FROM (SELECT ${walk.columns} FROM ${source[walk.from]} s ${where} ORDER BY ${by('s.began')} LIMIT ?)`,
        values: [...conditions.flatMap(({ values }) => values), limit],
      }
    })
    const sql = parts.map((part) => part.sql).join(' UNION ALL ')
    const values = parts.flatMap((part) => part.values)
    return file.rows<WalkedRow>(`${sql} ORDER BY ${by('start')} LIMIT ?`, ...values, limit)
  })
}

function placeOf(row: WalkedRow, { ids }: Pick<Walk, 'ids'>): Place {
  return [readTime(row.start) ?? 0, ...ids.map((name) => row[name])]
}

function cursorOf(file: TraceFile, walk: Walk, window: TraceWindow, next: string): Place {
  const [row] = rowsNamed(file, walk, window, next)
  if (row) return placeOf(row, walk.from === 'spans' ? walk : TRACE_WALK)
  const msg = `"${next}" is not the place of a row of this list. Send the \`next\` of the previous answer; the row may have been removed since`
  const loc = ['body', 'windowing', 'next']
  throw new Refusal('invalid_request', `${loc.join('.')}: ${msg}.`, {
    errors: [{ loc, msg, type: 'invalid_cursor' }],
  })
}

/** The row that a cursor names: a trace by its id, a span by both ids, or by its own beside the time that the window begins at. */
function rowsNamed(file: TraceFile, walk: Walk, window: TraceWindow, next: string): WalkedRow[] {
  const { order, newest, oldest } = window
  const time = order === 'ascending' ? oldest : newest
  const [id = '', spanId] = next.split('.')
  return file.snapshot(() =>
    sourcesOf(file).flatMap((source) => {
      if (walk.from !== 'spans')
        return file.rows<WalkedRow>(`SELECT * FROM ${source.traces} WHERE trace_id = ?`, id)
      const find = `SELECT trace_id, span_id, start FROM ${source.spans} WHERE`
      if (spanId !== undefined)
        return file.rows<WalkedRow>(`${find} trace_id = ? AND span_id = ?`, id, spanId)
      return time === undefined
        ? []
        : file.rows<WalkedRow>(`${find} began = ? AND span_id = ?`, source.began(time), id)
    }),
  )
}

type TimeOf = (time: number) => SqlValue

function rangeOf(began: TimeOf, { oldest, newest, next, rate }: TraceWindow): SourceCondition[] {
  return [
    ...(oldest === undefined ? [] : [{ sql: 's.began >= ?', values: [began(oldest)] }]),
    ...(newest === undefined
      ? []
      : [{ sql: `s.began ${next === undefined ? '<' : '<='} ?`, values: [began(newest)] }]),
    ...(rate === undefined || rate >= 1 ? [] : [sampled(rate)]),
  ]
}

/** Trace ids are random at their end. */
function sampled(rate: number): SourceCondition {
  const bound = Math.floor(rate * 2 ** 32)
  return { sql: 'substr(s.trace_id, -8) < ?', values: [bound.toString(16).padStart(8, '0')] }
}

function behind(
  { ids }: Walk,
  began: TimeOf,
  [start, ...known]: Place,
  isAscending: boolean,
): SourceCondition {
  const columns = ['began', ...ids.slice(0, known.length)].map((name) => `s.${name}`).join()
  return {
    sql: `(${columns}) ${isAscending ? '>' : '<'} (?${', ?'.repeat(known.length)})`,
    values: [began(start), ...known],
  }
}

interface SourceCondition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** More than a body that was recorded can be nested. */
const MOST_LEVELS = 2000

/** A record as its filter reads it. Texts that were cut within a character are not exact JSON, and are read as they are. */
function recordOf(text: string): JsonObject {
  try {
    const value = parseJson(text, { maxDepth: MOST_LEVELS })
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return JSON.parse(text) as JsonObject
  }
}
