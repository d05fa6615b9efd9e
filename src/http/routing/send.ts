import { Readable } from 'node:stream'
import { JsonStream, arrayStream, holdsStream, stringifyStreams } from '../../json/json-stream.ts'
import { printJson } from '../../json/print-json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { Window, Windowing } from '../../versioning/pagination.ts'
import type { AuthenticatedContext } from '../request.ts'
import { clientAbort } from './client-abort.ts'
import type { Encoding } from './compression.ts'
import { compress, compressStream, encodingFor, varies } from './compression.ts'
import type { EndpointResponse } from './endpoint.ts'

/** Writes an answer out; of a stream, waits for the first piece, so that a refusal until then is answered as one. */
export function send(ctx: AuthenticatedContext, answer: EndpointResponse): void | Promise<void> {
  const { body, text, stream, notModified } = answer
  if (notModified) return sendWhole(ctx, answer, 304, undefined)
  if (stream) return sendStream(ctx, answer, stream)
  if (body && holdsStream(body))
    return sendStream(ctx, { ...answer, contentType: JSON_TYPE }, stringifyStreams(body))
  const printed = text ?? printJson(body)
  if (printed instanceof Promise) return printed.then((whole) => sendPrinted(ctx, answer, whole))
  return sendPrinted(ctx, answer, printed)
}

function sendPrinted(
  ctx: AuthenticatedContext,
  answer: EndpointResponse,
  text: Buffer | string,
): void | Promise<void> {
  const { status = 200 } = answer
  // Most clients of machines ask for none, and nothing is counted for them.
  const encoding = ctx.req.headers['accept-encoding'] && encodingFor(ctx, Buffer.byteLength(text))
  if (!encoding) return sendWhole(ctx, answer, status, text)
  return compress(text, encoding).then((bytes) => sendWhole(ctx, answer, status, bytes, encoding))
}

const JSON_TYPE = 'application/json; charset=utf-8'

function sendWhole(
  ctx: AuthenticatedContext,
  answer: EndpointResponse,
  status: number,
  text: Buffer | string | undefined,
  encoding?: Encoding,
): void {
  ctx.status = status
  setOwnHeaders(ctx, answer, encoding)
  if (text === undefined) return
  ctx.set('Content-Type', JSON_TYPE)
  ctx.body = text
  if (encoding || varies(ctx.length ?? 0)) ctx.set('Vary', 'Accept-Encoding')
}

/**
 * Sets the headers that an answer brings: its own, its entity tag, that it is told again, how it is compressed.
 * The tag is of the revision (interface 2.21), so it is the same however the bytes are compressed; nobody is sent a part of them.
 */
function setOwnHeaders(
  ctx: AuthenticatedContext,
  { headers = {}, etag, isReplayed }: EndpointResponse,
  encoding?: Encoding,
): void {
  ctx.set(headers)
  if (etag !== undefined) {
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', 'private, no-cache')
  }
  if (encoding) ctx.set('Content-Encoding', encoding)
  if (isReplayed) ctx.set('Idempotent-Replayed', 'true')
}

async function sendStream(
  ctx: AuthenticatedContext,
  answer: EndpointResponse,
  stream: AsyncIterable<string | Buffer>,
): Promise<void> {
  const { status, contentType = 'application/octet-stream', fileName } = answer
  // Answers that come as work goes on are read piece by piece; the others are compressed, as long as they are.
  const encoding = answer.stream && fileName === undefined ? undefined : encodingFor(ctx, Infinity)
  const pieces = inTurns(stream, new TimeSlice(clientAbort(ctx.res)))
  const first = await pieces.next()
  if (status !== undefined) ctx.status = status
  setOwnHeaders(ctx, answer, encoding)
  if (!answer.stream || fileName !== undefined) ctx.set('Vary', 'Accept-Encoding')
  ctx.set('Content-Type', contentType)
  if (fileName !== undefined) ctx.attachment(fileName)
  // Koa pipes it, destroys it when the client goes, and destroys the connection when it fails.
  const body = Readable.from(startingWith(first, pieces), { objectMode: false })
  ctx.body = encoding ? compressStream(body, encoding) : body
}

/**
 * The pieces of a stream. Whoever makes and whoever reads them may both be so quick that nobody else would have a turn before the last
 * one. When the client goes, it ends.
 */
async function* inTurns<T>(stream: AsyncIterable<T>, slice: TimeSlice): AsyncGenerator<T> {
  for await (const piece of stream) {
    yield piece
    if (slice.isOver) await slice.rest()
  }
}

/** Not a generator: one that is closed before its first piece was asked for would not close `rest`. */
function startingWith<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncIterable<T> {
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return first
      },
      return: async (value) => (await rest.return?.(value)) ?? { done: true, value },
    }),
  }
}

/** The answer of a list: its rows, their number, and where to go on when more remain (interface 2.2, 2.18). */
export function respondWithList(
  key: string,
  window: Window<unknown>,
  asked: Windowing | undefined,
  records: readonly object[],
): EndpointResponse {
  return answer(key, window, asked, records.length, records)
}

/** Records with payloads are held all at once if they are no more than so many. */
const FEW = 20

/**
 * The same where each record may be large, or is none (undefined), which leaves it out. Of many, each is made when it is written, so that
 * no more of them is in memory and others have their turn in between; how many they were is said behind them.
 */
export async function respondWithLargeList<T>(
  key: string,
  window: Window<T>,
  asked: Windowing | undefined,
  show: (row: T) => Promise<object | undefined>,
): Promise<EndpointResponse> {
  const { rows } = window
  if (rows.length <= FEW) {
    const records: object[] = []
    for (const row of rows) {
      const record = await show(row)
      if (record) records.push(record)
    }
    return answer(key, window, asked, records.length, records)
  }
  let count = 0
  const counted = async (row: T): Promise<object | undefined> => {
    const record = await show(row)
    if (record) count++
    return record
  }
  const counting = async function* (): AsyncGenerator<string> {
    yield String(count)
  }
  return answer(key, window, asked, new JsonStream(counting()), arrayStream(rows, counted))
}

function answer(
  key: string,
  { next, total }: Window<unknown>,
  asked: Windowing | undefined,
  count: number | JsonStream,
  records: object,
): EndpointResponse {
  const page = {
    ...(total === undefined ? {} : { total }),
    ...(next === undefined ? {} : { windowing: { ...asked, next } }),
  }
  return {
    body:
      count instanceof JsonStream ? { [key]: records, count, ...page } : { count, [key]: records, ...page },
  }
}
