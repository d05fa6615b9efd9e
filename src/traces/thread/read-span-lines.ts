import { LIST, MEMBERS, type ReferenceTexts } from '../reference-texts.ts'
import type { SpanLines } from '../span-batch.ts'

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
}

/** The spans of lines that `spanLine` made. */
export function readSpanLines({ lines, references }: SpanLines): StoredSpan[] {
  const text = Buffer.from(lines.buffer).toString()
  // behind the last line end is nothing
  return text
    .split('\n', -1)
    .slice(0, -1)
    .map((line) => readSpanLine(line, references))
}

function readSpanLine(line: string, references: readonly ReferenceTexts[]): StoredSpan {
  const [traceId, spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, place, record] =
    line.split('\t') as Columns // `spanLine` vouches for it
  return {
    traceId,
    spanId,
    parentId: parentId === '' ? null : parentId,
    traceType,
    type,
    name: JSON.parse(name) as string,
    statusCode,
    sessionId: sessionId === '' ? null : (JSON.parse(sessionId) as string),
    startTime: Number(startTime),
    record: wholeRecord(record, references[Number(place)]),
  }
}

type Columns = [string, string, string, string, string, string, string, string, string, string, string]

/** A function each, because a text to put in has words of its own for `replace`. */
function wholeRecord(record: string, references: ReferenceTexts | undefined): string {
  if (!references) return record
  return record.replace(MEMBERS, () => references.members).replace(LIST, () => references.list)
}
