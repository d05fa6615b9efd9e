import { JsonText, stringifyJson } from './stringify-json.ts'

/** A JSON value that is too large to hold: its text comes piece by piece, once. */
export class JsonStream {
  readonly pieces: AsyncIterable<string>

  /** The caller vouches that the pieces together are one JSON value. */
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/** Whether a value of ours (not free-form JSON) holds a JsonStream in one of its members, at most `levels` deep. */
export function holdsStream(value: unknown, levels = 4): boolean {
  if (value instanceof JsonStream) return true
  if (typeof value !== 'object' || value === null || levels === 0) return false
  return Object.values(value).some((member) => holdsStream(member, levels - 1))
}

/** The JSON text of a value that holds streams, piece by piece. */
export async function* stringifyStreams(value: object): AsyncGenerator<string> {
  const streams: JsonStream[] = []
  // No JSON text holds a NUL, so it marks where a stream goes.
  const text = stringifyJson(withMarks(value, streams))
  for (const [index, piece] of text.split('\0').entries()) {
    yield piece
    const stream = streams[index]
    if (stream) yield* stream.pieces
  }
}

function withMarks(value: unknown, streams: JsonStream[]): unknown {
  if (value instanceof JsonStream) {
    streams.push(value)
    return new JsonText('\0')
  }
  if (Array.isArray(value)) return value.map((item) => withMarks(item, streams))
  if (!holdsStream(value)) return value
  const entries = Object.entries(value as object).map(([key, member]) => [key, withMarks(member, streams)])
  return Object.fromEntries(entries) as unknown
}
