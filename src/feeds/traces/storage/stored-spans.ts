import type { SqlValue } from '../../../storage/sqlite.ts'
import { exactSpan, isoOf, type SpanRow, STAND_IN, type StoredSpan } from '../span-record.ts'
import type { TraceFile } from './trace-file.ts'

/** Stores spans, all or none. An existing span with the same trace id and span id is overwritten (interface 12.14). */
export function writeSpans(file: TraceFile, spans: readonly StoredSpan[]): void {
  file.transaction(() => {
    if (file.hasOlder) for (const id of new Set(spans.map((span) => span.trace_id))) bringOver(file, id)
    insertSpans(file, spans)
  })
}

function insertSpans(file: TraceFile, spans: readonly StoredSpan[]): void {
  const starts = new Map<string, string>()
  for (const { trace_id: id, start_time: time } of spans) {
    const known = starts.get(id)
    if (known === undefined || time < known) starts.set(id, time)
  }
  for (const [id, time] of starts) file.run(INSERT_TRACE, id, time)
  for (const span of spans) file.run(INSERT_SPAN, ...COLUMNS.map((name) => span[name]))
}

/** A trace begins with its first span. */
const INSERT_TRACE = `INSERT INTO traces VALUES (?, ?)
  ON CONFLICT (trace_id) DO UPDATE SET start_time = min(start_time, excluded.start_time)`

const COLUMNS = [
  ...(['trace_id', 'span_id', 'parent_id', 'trace_type', 'span_type', 'span_kind', 'span_name'] as const),
  ...(['start_time', 'end_time', 'status_code', 'session_id', 'record'] as const),
]

const INSERT_SPAN = `INSERT INTO spans (${COLUMNS.join()}) VALUES (${COLUMNS.map(() => '?').join()})
  ON CONFLICT (trace_id, span_id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join()}`

/** The spans of a trace by start time; none if it does not exist. */
export function spansOfTrace(file: TraceFile, traceId: string): SpanRow[] {
  return spansWhere(file, traceId, () => 'TRUE')
}

/** Those spans whose parent is absent. */
export function headsOfTrace(file: TraceFile, traceId: string): SpanRow[] {
  return spansWhere(
    file,
    traceId,
    (spans) => `(s.parent_id IS NULL OR s.parent_id = s.span_id
      OR NOT EXISTS (SELECT 1 FROM ${spans} p WHERE p.trace_id = s.trace_id AND p.span_id = s.parent_id))`,
  )
}

function spansWhere(file: TraceFile, traceId: string, condition: (spans: string) => string): SpanRow[] {
  return file.snapshot(() =>
    sourcesOf(file).flatMap(({ spansByTrace }) =>
      file
        .rows<SpanRow>(
          `SELECT trace_id, span_id, parent_id, ${READABLE_NAME}, record FROM ${spansByTrace} s
            WHERE trace_id = ? AND ${condition(spansByTrace)} ORDER BY start_time, id`,
          traceId,
        )
        .map(exactSpan),
    ),
  )
}

/** The id of a trace whose references name something with an id that ends in these digits; undefined if there is none. */
export function namingTrace(file: TraceFile, digits: string): string | undefined {
  const text = `${digits}"`
  const [found] = file.snapshot(() =>
    sourcesOf(file).flatMap(({ spans }) =>
      file.rows<Pick<SpanRow, 'trace_id'>>(
        `SELECT trace_id FROM ${spans} WHERE ${NAMES} LIMIT 1`,
        text,
        text,
      ),
    ),
  )
  return found?.trace_id
}

/**
 * Only a few records contain the text at all, so few are parsed as JSON. SQLite cannot parse JSON that is nested a thousand levels deep.
 */
const NAMES = `instr(record, ?) > 0
  AND instr(CASE json_valid(record) WHEN 1 THEN json_extract(record, '$.references') ELSE record END, ?) > 0`

/** Removes a trace within the caller's transaction; answers whether it existed. */
export function removeTrace(file: TraceFile, traceId: string): boolean {
  const wasOlder = file.hasOlder && removeOlder(file, traceId)
  file.run('DELETE FROM spans WHERE trace_id = ?', traceId)
  return file.run('DELETE FROM traces WHERE trace_id = ?', traceId).changes > 0 || wasOlder
}

function removeOlder(file: TraceFile, traceId: string): boolean {
  file.run('DELETE FROM older_spans WHERE trace = (SELECT id FROM older_traces WHERE trace_id = ?)', traceId)
  return file.run('DELETE FROM older_traces WHERE trace_id = ?', traceId).changes > 0
}

/** Moves some of the newest traces of an older version to the current tables; drops the old tables when none is left. */
export function bringSomeOver(file: TraceFile): void {
  file.transaction(() => {
    if (!file.hasOlder) return
    const rows = file.rows<Pick<SpanRow, 'trace_id'>>(NEWEST_OLDER, SLICE)
    let size = 0
    for (const { trace_id: id } of rows) if (size < SLICE_SIZE) size += bringOver(file, id)
    if (rows.length === 0)
      for (const table of ['older_spans', 'older_traces', 'older_references']) file.run(`DROP TABLE ${table}`)
  })
}

/** The number of traces that move in one transaction, and their approximate characters. */
const SLICE = 50
const SLICE_SIZE = 1024 * 1024

const NEWEST_OLDER = 'SELECT trace_id FROM older_traces ORDER BY start_time DESC LIMIT ?'

/** Moves a trace, if it exists, within the caller's transaction; answers the number of its characters. */
function bringOver(file: TraceFile, traceId: string): number {
  const spans = file.rows<Omit<StoredSpan, 'span_kind' | 'end_time'>>(
    `SELECT * FROM ${OLDER.spansByTrace} WHERE trace_id = ? ORDER BY id`,
    traceId,
  )
  insertSpans(file, spans.map(withColumnsOfNow))
  removeOlder(file, traceId)
  return spans.reduce((sum, { record }) => sum + record.length, 0)
}

/** Adds the columns that older versions had only in the record, and texts that cannot be read whole from a column (see READABLE_NAME). */
function withColumnsOfNow(span: Omit<StoredSpan, 'span_kind' | 'end_time'>): StoredSpan {
  const { span_kind, end_time, span_name, session_id } = JSON.parse(span.record) as Omit<
    StoredSpan,
    'session_id'
  > & { readonly session_id?: string }
  return { ...span, span_kind, end_time, span_name, session_id: session_id ?? null }
}

/** A source of spans, as SQL after FROM: an index orders each by `began`, the stored start time. */
interface SpanSource {
  readonly traces: string
  readonly spans: string
  /** Spans with the beginning of their trace. CROSS JOIN fixes the order of the tables. */
  readonly spansByTrace: string
  /** The value of `began` for a time in microseconds. */
  readonly began: (time: number) => SqlValue
}

/**
 * The sources of a file's spans: until all traces of an older version have moved, also its tables. Call it in the transaction that reads
 * them.
 */
export function sourcesOf(file: TraceFile): readonly SpanSource[] {
  return file.hasOlder ? [CURRENT, OLDER] : [CURRENT]
}

/** The name of a span `s`, for `exactSpan`: the driver reads a text only up to U+0000. */
export const READABLE_NAME = `CASE instr(s.span_name, char(0)) WHEN 0 THEN s.span_name ELSE char(${STAND_IN.charCodeAt(0)}) END AS span_name`

const SPAN_COLUMNS =
  's.span_id, s.parent_id, s.trace_type, s.span_type, s.span_name, s.status_code, s.session_id'

const CURRENT: SpanSource = {
  traces: '(SELECT trace_id, start_time AS start, start_time AS began FROM traces)',
  spans: '(SELECT *, start_time AS start, start_time AS began FROM spans)',
  spansByTrace: `(SELECT t.trace_id, t.start_time AS start, t.start_time AS began, ${SPAN_COLUMNS}, s.start_time, s.id, s.record
    FROM traces t CROSS JOIN spans s ON s.trace_id = t.trace_id)`,
  began: isoOf,
}

/** The tables of versions 1 and 2 in the form of the current ones (trace-file.ts). */
export const OLDER: SpanSource = {
  traces: `(SELECT trace_id, ${textOf('start_time')} AS start, start_time AS began FROM older_traces)`,
  spans: older('s.start_time', 'older_spans s CROSS JOIN older_traces t ON t.id = s.trace'),
  spansByTrace: older('t.start_time', 'older_traces t CROSS JOIN older_spans s ON s.trace = t.id'),
  began: (time) => time,
}

function older(began: string, tables: string): string {
  return `(SELECT t.trace_id, ${textOf(began)} AS start, ${began} AS began, ${SPAN_COLUMNS}, ${textOf('s.start_time')} AS start_time,
    s.id, coalesce(replace(replace(s.record, char(1), r.members), char(2), r.list), s.record) AS record
    FROM ${tables} LEFT JOIN older_references r ON r.id = s.reference_text)`
}

/** Microseconds since 1970 in the form of `isoOf`. */
function textOf(time: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%S', ${time} / 1000000, 'unixepoch') || printf('.%06dZ', ${time} % 1000000)`
}
