import { type RecordColumns, rowsWithRecords } from './shared-references.ts'
import type { TraceFile } from './trace-file.ts'

/** A span as it is read: its record as text, and what puts it in its place in a trace. */
export interface SpanRow {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_id: string | null
  readonly span_name: string
  readonly record: string
}

/** The spans of a trace in the order in which they began; none if there is no such trace. */
export function spansOfTrace(file: TraceFile, traceId: string): SpanRow[] {
  return rowsWithRecords<RecordColumns & Omit<SpanRow, 'record'>>(
    file,
    `SELECT t.trace_id, s.span_id, s.parent_id, s.span_name, s.record, s.reference_text FROM traces t JOIN spans s ON s.trace = t.id
     WHERE t.trace_id = ? ORDER BY s.start_time, s.id`,
    traceId,
  )
}

/** Removes a trace; whether it was there. */
export function removeTrace(file: TraceFile, traceId: string): boolean {
  return file.transaction(() => {
    file.run('DELETE FROM spans WHERE trace IN (SELECT id FROM traces WHERE trace_id = ?)', traceId)
    return file.run('DELETE FROM traces WHERE trace_id = ?', traceId).changes > 0
  })
}
