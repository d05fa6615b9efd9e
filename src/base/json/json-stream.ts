import { printJson } from './print-json.ts'
import { JsonText } from './stringify-json.ts'

/** A JSON value that is too large to hold: its text comes piece by piece, once. */
export class JsonStream {
  readonly pieces: AsyncIterable<string>

  /** The caller vouches that the pieces together are one JSON value. */
  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/** So many characters of a text are held before its first piece is given, and so many make a piece after it. */
const FIRST_PIECE = 256 * 1024
const PIECE = 32 * 1024

/** A JSON value whose text comes in pieces: as one text if it is short, read to its end, and as a stream of the same if it is not. */
export async function textOrStream(pieces: AsyncIterable<string>): Promise<JsonText | JsonStream> {
  const all = pieces[Symbol.asyncIterator]()
  let text = ''
  for (let next = await all.next(); !next.done; next = await all.next()) {
    text += next.value
    if (text.length >= FIRST_PIECE) return new JsonStream(goingOn(text, all))
  }
  return new JsonText(text)
}

async function* goingOn(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/** An array as a stream: each item is made when its turn comes, and may hold streams; undefined is left out. */
export function arrayStream<T>(
  items: Iterable<T>,
  show: (item: T) => Promise<object | undefined>,
): JsonStream {
  return new JsonStream(arrayPieces(items, show))
}

async function* arrayPieces<T>(
  items: Iterable<T>,
  show: (item: T) => Promise<object | undefined>,
): AsyncGenerator<string> {
  let before = '['
  for (const item of items) {
    const shown = await show(item)
    if (!shown) continue
    yield before
    before = ','
    yield* piecesOf(shown)
  }
  yield before === '[' ? '[]' : ']'
}

/** Whether a value of ours (not free-form JSON) holds a JsonStream in one of its members, at most `levels` deep. */
export function holdsStream(value: unknown, levels = 4): boolean {
  if (value instanceof JsonStream) return true
  if (typeof value !== 'object' || value === null || levels === 0) return false
  return Object.values(value).some((member) => holdsStream(member, levels - 1))
}

/**
 * The JSON text of a value that holds streams, piece by piece. The first piece is all of a short text, so that who waits for it before
 * he answers can still refuse.
 */
export async function* stringifyStreams(value: object): AsyncGenerator<string> {
  let [text, enough] = ['', FIRST_PIECE]
  for await (const piece of piecesOf(value)) {
    text += piece
    if (text.length < enough) continue
    yield text
    text = ''
    enough = PIECE
  }
  if (text !== '') yield text
}

async function* piecesOf(value: object): AsyncGenerator<string> {
  const streams: JsonStream[] = []
  // No JSON text holds a NUL, so it marks where a stream goes.
  const printed = printJson(withMarks(value, streams))
  const text = typeof printed === 'string' ? printed : (await printed).toString()
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
