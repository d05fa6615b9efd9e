import { Refusal } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { TraceFilter } from '../query/filter/trace-filter.ts'
import { readTraceFilter } from '../query/filter/trace-filter.ts'
import { allOf, type SqlCondition } from '../query/filter/sql-condition.ts'
import type { TraceWindow } from '../query/trace-window.ts'
import { type RecordColumns, rowsWithRecords } from './shared-references.ts'
import type { SpanRow } from './span-rows.ts'
import { spansOfTrace } from './span-rows.ts'
import { ownSignal } from './thread-signal.ts'
import type { SqlValue, TraceFile } from './trace-file.ts'

/** What is asked of all traces of a project. */
export interface TraceQuestion {
  /** Whole traces, one span of which matches; or the spans that match. */
  readonly focus: 'trace' | 'span'
  /** The text of a filtering that has been read before; undefined leaves nothing out. */
  readonly filtering: string | undefined
  readonly window: TraceWindow
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
  const walk = question.focus === 'trace' ? traceWalk(filter) : SPAN_WALK
  const page = new Page(window.limit)
  for (const row of rowsOf(file, walk, filter, window)) {
    if (question.focus === 'trace' && row.trace_id === page.lastTrace) continue
    if (ownSignal.isEnding) throw new Error('the thread is to end')
    if (filter && !ownSignal.match(() => filter.matches(recordOf(row.record)))) continue
    if (page.isFull) return { spans: page.spans, next: page.next }
    if (question.focus === 'trace') page.add(spansOfTrace(file, row.trace_id), row.trace_id, row.trace_id)
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

interface WalkedRow extends RecordColumns, Omit<SpanRow, 'record'> {
  readonly start_time: number
}

/** How candidates are walked: from what, and by which columns they are ordered. */
interface Walk {
  readonly from: string
  readonly columns: string
  /** In order; the first is the time that a window is about. */
  readonly order: readonly [string, ...string[]]
  /** What a row is in that order. */
  readonly keyOf: (row: WalkedRow) => SqlValue[]
  /** Where the row is that a cursor names. */
  readonly cursor: (file: TraceFile, next: string, window: TraceWindow) => SqlValue[] | undefined
}

/** For conditions that look into references; SQLite leaves it out where none does. */
const SHARED = 'LEFT JOIN reference_texts r ON r.id = s.reference_text'

/** Traces by their beginning; with a filter, each with its spans. CROSS JOIN keeps the order of the tables. */
function traceWalk(filter: TraceFilter | undefined): Walk {
  const cursor: Walk['cursor'] = (file, next) => {
    const [row] = file.rows<WalkedRow>('SELECT start_time FROM traces WHERE trace_id = ?', next)
    return row && [row.start_time, next]
  }
  if (!filter) {
    return {
      from: 'traces t',
      columns:
        "t.trace_id, t.start_time, '' AS span_id, NULL AS parent_id, '' AS span_name, '' AS record, NULL AS reference_text",
      order: ['t.start_time', 't.trace_id'],
      keyOf: (row) => [row.start_time, row.trace_id],
      cursor,
    }
  }
  return {
    from: `traces t CROSS JOIN spans s ON s.trace = t.id ${SHARED}`,
    columns: 't.trace_id, t.start_time, s.span_id, s.parent_id, s.span_name, s.record, s.reference_text',
    order: ['t.start_time', 't.trace_id', 's.span_id'],
    keyOf: (row) => [row.start_time, row.trace_id, row.span_id],
    cursor,
  }
}

const SPAN_WALK: Walk = {
  from: `spans s CROSS JOIN traces t ON t.id = s.trace ${SHARED}`,
  columns: 't.trace_id, s.start_time, s.span_id, s.parent_id, s.span_name, s.record, s.reference_text',
  order: ['s.start_time', 's.span_id'],
  keyOf: (row) => [row.start_time, row.span_id],
  cursor: (file, next, { order, newest, oldest }) => {
    const [traceId = '', spanId] = next.split('.')
    const found =
      spanId === undefined
        ? // The id of the last row alone says which one is meant beside its time.
          file.rows<WalkedRow>(
            'SELECT start_time, span_id FROM spans WHERE start_time = ? AND span_id = ?',
            (order === 'ascending' ? oldest : newest) ?? null,
            traceId,
          )
        : file.rows<WalkedRow>(
            'SELECT s.start_time, s.span_id FROM traces t JOIN spans s ON s.trace = t.id WHERE t.trace_id = ? AND s.span_id = ?',
            traceId,
            spanId,
          )
    return found[0] && [found[0].start_time, found[0].span_id]
  },
}

/** Rows are fetched some at a time, so that nothing is left open between them: so many at most, and about so many characters. */
const MOST_ROWS = 200
const CHUNK_SIZE = 4 * 1024 * 1024

function* rowsOf(
  file: TraceFile,
  walk: Walk,
  filter: TraceFilter | undefined,
  window: TraceWindow,
): Iterable<WalkedRow> {
  const isAscending = window.order === 'ascending'
  const fixed = allOf([filter?.where, ...rangeOf(walk, window)])
  let key = window.next === undefined ? undefined : cursorOf(file, walk, window, window.next)
  let limit = 10
  for (;;) {
    const where = allOf([fixed, key && behind(walk, key, isAscending)])
    const direction = isAscending ? 'ASC' : 'DESC'
    const rows = rowsWithRecords<WalkedRow>(
      file,
      `SELECT ${walk.columns} FROM ${walk.from} ${where ? `WHERE ${where.sql}` : ''}
       ORDER BY ${walk.order.map((column) => `${column} ${direction}`).join()} LIMIT ?`,
      ...(where?.values ?? []),
      limit,
    )
    yield* rows
    const last = rows.at(-1)
    if (rows.length < limit || !last) return
    key = walk.keyOf(last)
    const size = rows.reduce((sum, { record }) => sum + record.length, 0)
    limit = Math.max(1, Math.min(MOST_ROWS, Math.floor((CHUNK_SIZE * rows.length) / (size + 1))))
  }
}

function cursorOf(file: TraceFile, walk: Walk, window: TraceWindow, next: string): SqlValue[] {
  const key = walk.cursor(file, next, window)
  if (key) return key
  const msg = `"${next}" is not the place of a row of this list. Send the \`next\` of the previous answer; the row may have been removed since`
  const loc = ['body', 'windowing', 'next']
  throw new Refusal('invalid_request', `${loc.join('.')}: ${msg}.`, {
    errors: [{ loc, msg, type: 'invalid_cursor' }],
  })
}

function rangeOf({ order: [time] }: Walk, { oldest, newest, next, rate }: TraceWindow): SqlCondition[] {
  return [
    ...(oldest === undefined ? [] : [{ sql: `${time} >= ?`, values: [oldest] }]),
    ...(newest === undefined
      ? []
      : [{ sql: `${time} ${next === undefined ? '<' : '<='} ?`, values: [newest] }]),
    ...(rate === undefined || rate >= 1 ? [] : [sampled(rate)]),
  ]
}

/** Trace ids are random at their end. */
function sampled(rate: number): SqlCondition {
  const bound = Math.floor(rate * 2 ** 32)
  return { sql: 'substr(t.trace_id, -8) < ?', values: [bound.toString(16).padStart(8, '0')] }
}

function behind({ order }: Walk, key: readonly SqlValue[], isAscending: boolean): SqlCondition {
  const columns = order.slice(0, key.length).join()
  return {
    sql: `(${columns}) ${isAscending ? '>' : '<'} (${key.map(() => '?').join()})`,
    values: key.map((it) => it ?? ''),
  }
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
