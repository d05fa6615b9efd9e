import { isoOf, STAND_IN } from '../recording/span-record.ts'
import type { SqlValue } from '../../storage/sqlite/database-file.ts'
import type { TraceFile } from './trace-file.ts'

/** What spans are read from, as it stands behind FROM: an index orders each by `began`, which is `start` as it is stored there. */
interface SpanSource {
  readonly traces: string
  readonly spans: string
  /** Spans with the beginning of their trace. CROSS JOIN keeps the order of the tables. */
  readonly spansByTrace: string
  /** What `began` is at a time in microseconds. */
  readonly began: (time: number) => SqlValue
}

/**
 * Where the spans of a file are: until all of an older version are brought over, in its tables as well. To be asked in the transaction
 * that reads them.
 */
export function sourcesOf(file: TraceFile): readonly SpanSource[] {
  return file.hasOlder ? [CURRENT, OLDER] : [CURRENT]
}

/** The name of a span `s`, for `exactSpan`: of a text that has U+0000 in it, the driver reads what stands before that. */
export const READABLE_NAME = `CASE instr(s.span_name, char(0)) WHEN 0 THEN s.span_name ELSE char(${STAND_IN.charCodeAt(0)}) END AS span_name`

const COLUMNS = 's.span_id, s.parent_id, s.trace_type, s.span_type, s.span_name, s.status_code, s.session_id'

const CURRENT: SpanSource = {
  traces: '(SELECT trace_id, start_time AS start, start_time AS began FROM traces)',
  spans: '(SELECT *, start_time AS start, start_time AS began FROM spans)',
  spansByTrace: `(SELECT t.trace_id, t.start_time AS start, t.start_time AS began, ${COLUMNS}, s.start_time, s.id, s.record
    FROM traces t CROSS JOIN spans s ON s.trace_id = t.trace_id)`,
  began: isoOf,
}

/** The tables of versions 1 and 2 as those of now (trace-file.ts). */
export const OLDER: SpanSource = {
  traces: `(SELECT trace_id, ${textOf('start_time')} AS start, start_time AS began FROM older_traces)`,
  spans: older('s.start_time', 'older_spans s CROSS JOIN older_traces t ON t.id = s.trace'),
  spansByTrace: older('t.start_time', 'older_traces t CROSS JOIN older_spans s ON s.trace = t.id'),
  began: (time) => time,
}

function older(began: string, tables: string): string {
  return `(SELECT t.trace_id, ${textOf(began)} AS start, ${began} AS began, ${COLUMNS}, ${textOf('s.start_time')} AS start_time,
    s.id, coalesce(replace(replace(s.record, char(1), r.members), char(2), r.list), s.record) AS record
    FROM ${tables} LEFT JOIN older_references r ON r.id = s.reference_text)`
}

/** Microseconds since 1970 as `isoOf` writes them. */
function textOf(time: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%S', ${time} / 1000000, 'unixepoch') || printf('.%06dZ', ${time} % 1000000)`
}
