import type { ReferenceTexts } from '../reference-texts.ts'
import type { StoredSpan } from './read-span-lines.ts'
import type { SqlValue, TraceFile } from './trace-file.ts'

/** Stores spans, all of them or none. One that is there already, by its trace and its own id, is overwritten (contract/handlers 5.4). */
export function writeSpans(file: TraceFile, spans: readonly StoredSpan[]): void {
  const starts = new Map<string, number>()
  for (const { traceId, startTime } of spans)
    starts.set(traceId, Math.min(starts.get(traceId) ?? startTime, startTime))
  file.transaction(() => {
    const texts = keepShared(file, spans)
    insert(file, TRACES, [...starts])
    insert(
      file,
      SPANS,
      spans.map((span) => columnsOf(span, span.shared ? (texts.get(span.shared) ?? null) : null)),
    )
  })
}

/** Stores the references that spans share, each once, and when the newest of these spans began; answers their rows. */
function keepShared(file: TraceFile, spans: readonly StoredSpan[]): ReadonlyMap<ReferenceTexts, number> {
  const newest = new Map<ReferenceTexts, number>()
  for (const { shared, startTime } of spans)
    if (shared) newest.set(shared, Math.max(newest.get(shared) ?? startTime, startTime))
  const ids = new Map<ReferenceTexts, number>()
  for (const [texts, time] of newest) {
    const [row] = file.rows<{ readonly id: number }>(KEEP, texts.members, texts.list, time)
    if (row) ids.set(texts, row.id)
  }
  return ids
}

const KEEP = `INSERT INTO reference_texts (members, list, newest) VALUES (?, ?, ?)
  ON CONFLICT (members) DO UPDATE SET newest = max(newest, excluded.newest) RETURNING id`

/** The statement that stores one row, and the one that stores a group of them: half of a row's cost is that of a call. */
interface Insertion {
  readonly one: string
  readonly group: string
}

const GROUP = 50

function insert(file: TraceFile, { one, group }: Insertion, rows: readonly (readonly SqlValue[])[]): void {
  let at = 0
  for (; at + GROUP <= rows.length; at += GROUP) {
    const values: SqlValue[] = []
    for (const row of rows.slice(at, at + GROUP)) values.push(...row)
    file.statement(group).run(values)
  }
  for (const row of rows.slice(at)) file.statement(one).run(row)
}

function insertion(before: string, row: string, after: string): Insertion {
  const rows = Array<string>(GROUP).fill(row).join()
  return { one: `${before} VALUES ${row} ${after}`, group: `${before} VALUES ${rows} ${after}` }
}

/** A trace begins when its first span does. */
const TRACES = insertion(
  'INSERT INTO traces (trace_id, start_time)',
  '(?, ?)',
  'ON CONFLICT (trace_id) DO UPDATE SET start_time = min(start_time, excluded.start_time)',
)

const COLUMNS = [
  'span_id',
  'parent_id',
  'trace_type',
  'span_type',
  'span_name',
  'status_code',
  'session_id',
  'start_time',
  'record',
  'reference_text',
]

const SPANS = insertion(
  `INSERT INTO spans (trace, ${COLUMNS.join()})`,
  `((SELECT id FROM traces WHERE trace_id = ?), ${COLUMNS.map(() => '?').join()})`,
  `ON CONFLICT (trace, span_id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join()}`,
)

function columnsOf(span: StoredSpan, text: number | null): SqlValue[] {
  const { traceId, spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record } = span
  return [traceId, spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record, text]
}
