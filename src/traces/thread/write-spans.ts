import type { StoredSpan } from '../stored-span.ts'
import type { SqlValue, TraceFile } from './trace-file.ts'

/** Stores spans, all of them or none. One that is there already, by its trace and its own id, is overwritten (contract/handlers 5.4). */
export function writeSpans(file: TraceFile, spans: readonly StoredSpan[]): void {
  const starts = new Map<string, number>()
  for (const { traceId, startTime } of spans)
    starts.set(traceId, Math.min(starts.get(traceId) ?? startTime, startTime))
  file.transaction(() => {
    const traces = new Map([...starts].map(([traceId, start]) => [traceId, traceRow(file, traceId, start)]))
    for (const span of spans) file.run(INSERT_SPAN, traces.get(span.traceId) ?? null, ...columnsOf(span))
  })
}

function traceRow(file: TraceFile, traceId: string, start: number): number {
  const [row] = file.rows<{ readonly id: number }>(INSERT_TRACE, traceId, start)
  if (!row) throw new Error('the row of a trace was not answered')
  return row.id
}

/** A trace begins when its first span does. */
const INSERT_TRACE = `
  INSERT INTO traces (trace_id, start_time) VALUES (?, ?)
  ON CONFLICT (trace_id) DO UPDATE SET start_time = min(start_time, excluded.start_time) RETURNING id`

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
]

const INSERT_SPAN = `
  INSERT INTO spans (trace, ${COLUMNS.join()}) VALUES (?, ${COLUMNS.map(() => '?').join()})
  ON CONFLICT (trace, span_id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join()}`

function columnsOf(span: StoredSpan): SqlValue[] {
  const { spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record } = span
  return [spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record]
}
