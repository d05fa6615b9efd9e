import type { ReferenceTexts } from '../recording/reference-texts.ts'
import { type SpanLines, TIMES } from '../recording/span-batch.ts'
import type { LineParts } from '../recording/span-line.ts'
import type { RecurringReferences } from './recurring-references.ts'
import { PLACES } from './shared-references.ts'
import { type SpanTimes, spanRecord } from './span-record.ts'

/** A span as its row has it: what is looked for in columns, and the whole record as the JSON text that is answered. */
export interface StoredSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly traceType: string
  readonly type: string
  readonly name: string
  readonly statusCode: string
  readonly sessionId: string | null
  /** Microseconds since 1970. */
  readonly startTime: number
  readonly record: string
  /** References that are stored beside the record, which has `PLACES` for them; undefined where it has its own, or none. */
  readonly shared: ReferenceTexts | undefined
}

/** The spans of lines that `spanLine` made. References that came before are shared. */
export function readSpanLines(
  { lines, times, references }: SpanLines,
  recurring: RecurringReferences,
): StoredSpan[] {
  const known = references.map((texts) => (texts.list === '' ? undefined : recurring.before(texts)))
  const text = Buffer.from(lines.buffer).toString()
  // behind the last line end is nothing
  return text
    .split('\n', -1)
    .slice(0, -1)
    .map((line, place) => readSpanLine(line, timesAt(times, place), references, known))
}

function timesAt(times: Float64Array, place: number): SpanTimes {
  const at = TIMES * place
  return { start: times[at] ?? 0, end: times[at + 1] ?? 0, created: times[at + 2] ?? 0 }
}

function readSpanLine(
  line: string,
  times: SpanTimes,
  references: readonly ReferenceTexts[],
  known: readonly (ReferenceTexts | undefined)[],
): StoredSpan {
  const parts = line.split('\t') as LineParts // `spanLine` vouches for it
  const [traceId, spanId, parentId, traceType, type, , name, statusCode, , sessionId] = parts
  const place = Number(parts[REFERENCES])
  const shared = known[place]
  return {
    traceId,
    spanId,
    parentId: parentId === '' ? null : parentId,
    traceType,
    type,
    name: JSON.parse(name) as string,
    statusCode,
    sessionId: sessionId === '' ? null : (JSON.parse(sessionId) as string),
    startTime: times.start,
    record: spanRecord(parts, times, shared ? PLACES : references[place]),
    shared,
  }
}

/** Where a line says which references are its span's. */
const REFERENCES = 11
