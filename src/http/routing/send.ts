import { createHash } from 'node:crypto'
import { Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
} from 'node:zlib'
import type { ParameterizedContext } from 'koa'
import {
  JsonStream,
  arrayStream,
  holdsStream,
  stringifyStreams,
  printJson,
  stringifyJson,
} from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { Window, Windowing } from '../../registry/registries.ts'
import type { Revision } from '../../registry/revisions.ts'
import type { RequestContext } from '../request.ts'
import { clientAbort } from './client-abort.ts'
import type { EndpointResponse } from './endpoint.ts'

/** Writes an answer out; of a stream, waits for the first piece, so that a refusal until then is answered as one. */
export async function send(ctx: RequestContext, answer: EndpointResponse): Promise<void> {
  const { body, text = '', stream, status = 200, writing } = answer
  if (answer.notModified) return sendNotModified(ctx, answer)
  if (stream) return sendStream(ctx, answer, stream)
  if (body && (writing ? writing === 'streamed' : holdsStream(body)))
    return sendStream(ctx, { ...answer, contentType: JSON_TYPE }, stringifyStreams(body))
  const printed = !body ? text : writing === 'at once' ? stringifyJson(body) : await printJson(body)
  const length = Buffer.byteLength(printed)
  const encoding = encodingFor(ctx, length)
  const sent = encoding ? await compress(printed, encoding) : printed
  ctx.status = status
  setOwnHeaders(ctx, answer, encoding)
  ctx.set('Content-Type', JSON_TYPE)
  ctx.body = sent
  if (length >= LEAST_BYTES) ctx.set('Vary', 'Accept-Encoding')
}

function sendNotModified(ctx: RequestContext, answer: EndpointResponse): void {
  ctx.status = 304
  setOwnHeaders(ctx, answer)
}

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Sets the headers that an answer brings: its own, its entity tag, that it is told again, how it is compressed.
 * The tag is of the revision (interface 2.21), so it is the same however the bytes are compressed; nobody is sent a part of them.
 */
function setOwnHeaders(
  ctx: RequestContext,
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
  ctx: RequestContext,
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

/** How answers are compressed, for whoever takes it (RFC 9110 8.4.1). */
type Encoding = 'br' | 'gzip'

/** Shorter answers fit into one packet as they are. */
const LEAST_BYTES = 1024

/** Brotli's best, 11, takes fifty times as long for a fifth less. */
const QUALITY = 4

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/**
 * How to compress an answer of so many bytes: undefined if the client takes no encoding of ours, or the answer is short. Whoever may be
 * answered in several ways is told so (`Vary`).
 */
export function encodingFor(
  ctx: Pick<ParameterizedContext, 'req' | 'acceptsEncodings'>,
  bytes: number,
): Encoding | undefined {
  if (bytes < LEAST_BYTES || ctx.req.headers['accept-encoding'] === undefined) return undefined
  // Of two that a client takes equally Koa would choose the one that it names first.
  if (ctx.acceptsEncodings('br') === 'br') return 'br'
  return ctx.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : undefined
}

/** The bytes compressed, in another thread. What is kept and sent again is compressed once. `quality` is Brotli's, from 0 to 11. */
export function compress(
  bytes: Buffer | string,
  encoding: Encoding,
  quality: number = QUALITY,
): Promise<Buffer> {
  const known = typeof bytes === 'string' ? undefined : compressed[encoding].get(bytes)
  if (known) return known
  const made = encoding === 'br' ? compressors.br(bytes, brotli(quality)) : compressors.gzip(bytes)
  if (typeof bytes !== 'string') compressed[encoding].set(bytes, made)
  return made
}

const compressed: Readonly<Record<Encoding, WeakMap<Buffer, Promise<Buffer>>>> = {
  br: new WeakMap(),
  gzip: new WeakMap(),
}

function brotli(quality: number): BrotliOptions {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }
}

/** A stream of the same, compressed. It fails with what it reads from, which it destroys when it is destroyed. */
function compressStream(from: Readable, encoding: Encoding): Readable {
  const into = encoding === 'br' ? createBrotliCompress(brotli(QUALITY)) : createGzip()
  return pipeline(from, into, () => undefined) // whoever reads is told of an error by the stream itself
}

/**
 * Whether an `If-None-Match` header names `etag`, by the weak comparison that RFC 9110 13.1.2 asks for: `*`, or a list
 * with an equal tag, `W/` or not.
 */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag) return true
  if (header.trim() === '*') return true
  const opaque = withoutWeakness(etag)
  return (header.match(ENTITY_TAG) ?? []).some((tag) => withoutWeakness(tag) === opaque)
}

/**
 * The revision id in one of our entity tags, `"<revision id>.<hash>"`, as sent in `If-Match` (interface 2.21 compares only
 * this part); undefined if the header is not such a tag.
 */
export function revisionOfEtag(ifMatch: string): string | undefined {
  return /^\s*(?:W\/)?"([^".]+)(?:\.[^"]*)?"\s*$/.exec(ifMatch)?.[1]
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

/**
 * The entity tag of an answer about a revision: `"<revision id>.<hash>"`, the hash over everything else that shapes the
 * bytes (interface 2.21): the meta commit, the variant it is shown at, its slug, and the surface and options of the answer.
 */
export function etagOf(revision: Revision, shape: string): string {
  const { artifact, variant, slug } = revision
  const shaped = [artifact.metaCommit, variant.slug, slug, shape].join('\n')
  return `"${revision.id}.${createHash('sha1').update(shaped).digest('base64url').slice(0, 12)}"`
}

/** `If-Match: *` asks only that there is a revision; otherwise one of our entity tags, of which the id counts. */
export function readIfMatch(ifMatch: string): string {
  if (ifMatch.trim() === '*') return '*'
  const id = revisionOfEtag(ifMatch)
  if (id !== undefined) return id
  throw new Refusal(
    'precondition_failed',
    `If-Match ${JSON.stringify(ifMatch.slice(0, 100))} is no entity tag of a revision. Send the ETag of the revision you changed.`,
  )
}
