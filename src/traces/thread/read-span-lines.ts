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

/** The spans of lines that `spanLine` made, in UTF-8. */
export function readSpanLines(bytes: Uint8Array): StoredSpan[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').split('\n')
  // behind the last line end
  lines.pop()
  return lines.map(readSpanLine)
}

function readSpanLine(line: string): StoredSpan {
  const [traceId, spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record] =
    line.split('\t') as unknown as Ten // `spanLine` vouches for it
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
    record,
  }
}

type Ten = [string, string, string, string, string, string, string, string, string, string]
