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

/** Sends an answer. If it is a stream, it waits for the first chunk, because a refusal before that still gets its own status. */
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
 * Sets the headers of an answer: its own, its entity tag, whether it is a repeated answer, and its encoding. The tag identifies the revision
 * (interface 2.21), so it is the same for all encodings; partial answers are never sent.
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
  // Answers that are made step by step are sent step by step. Others are compressed if they are long enough.
  const encoding = answer.stream && fileName === undefined ? undefined : encodingFor(ctx, Infinity)
  const pieces = inTurns(stream, new TimeSlice(clientAbort(ctx.res)))
  const first = await pieces.next()
  if (status !== undefined) ctx.status = status
  setOwnHeaders(ctx, answer, encoding)
  if (!answer.stream || fileName !== undefined) ctx.set('Vary', 'Accept-Encoding')
  ctx.set('Content-Type', contentType)
  if (fileName !== undefined) ctx.attachment(fileName)
  // Koa pipes the stream, destroys it when the client goes, and destroys the connection when the stream fails.
  const body = Readable.from(startingWith(first, pieces), { objectMode: false })
  ctx.body = encoding ? compressStream(body, encoding) : body
}

/**
 * The chunks of a stream. It yields in between, because a fast producer and a fast reader would leave no turn to other requests. It ends when the
 * client goes.
 */
async function* inTurns<T>(stream: AsyncIterable<T>, slice: TimeSlice): AsyncGenerator<T> {
  for await (const piece of stream) {
    yield piece
    if (slice.isOver) await slice.rest()
  }
}

/** Not a generator: if a generator is closed before its first chunk was requested, it does not close `rest`. */
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

/** The answer of a list: records, their count, and a cursor if there are more (interface 2.2, 2.18). */
export function respondWithList(
  key: string,
  window: Window<unknown>,
  asked: Windowing | undefined,
  records: readonly object[],
): EndpointResponse {
  return answer(key, window, asked, records.length, records)
}

/** A list of up to this many records with payloads is made at once. */
const FEW = 20

/**
 * The same for records that may be large; undefined leaves a record out. In a longer list, each record is made when it is sent, so that memory
 * stays small and other requests are served in between. The count then comes after the records.
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

/** The encodings of answers, the preferred one first (RFC 9110 8.4.1). */
type Encoding = 'br' | 'gzip'

/** A shorter answer fits into one packet without compression. */
const LEAST_BYTES = 1024

/** Brotli's highest level, 11, takes fifty times as long and saves a fifth. */
const QUALITY = 4

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/**
 * The encoding of an answer of this many bytes; undefined if the client takes none of ours, or the answer is short. Sets `Vary` if the answer
 * depends on it.
 */
export function encodingFor(
  ctx: Pick<ParameterizedContext, 'req' | 'acceptsEncodings'>,
  bytes: number,
): Encoding | undefined {
  if (bytes < LEAST_BYTES || ctx.req.headers['accept-encoding'] === undefined) return undefined
  // If a client takes two encodings equally, Koa would choose the first in the header.
  if (ctx.acceptsEncodings('br') === 'br') return 'br'
  return ctx.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : undefined
}

/** Compresses bytes in another thread. A cached answer is compressed once. `quality` is Brotli's, from 0 to 11. */
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

/** Compresses a stream. It fails when the source fails, and destroys the source when it is destroyed. */
function compressStream(from: Readable, encoding: Encoding): Readable {
  const into = encoding === 'br' ? createBrotliCompress(brotli(QUALITY)) : createGzip()
  return pipeline(from, into, () => undefined) // The stream itself reports an error to its reader.
}

/**
 * Whether an `If-None-Match` header contains `etag`, by the weak comparison of RFC 9110 13.1.2: `*`, or a list with an equal tag, with or without
 * `W/`.
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
 * The entity tag of an answer about a revision: `"<revision id>.<hash>"`. The hash covers everything else that affects the bytes (interface 2.21):
 * the meta commit, the variant, the slug, the surface and the options of the answer.
 */
export function etagOf(revision: Revision, shape: string): string {
  const { artifact, variant, slug } = revision
  const shaped = [artifact.metaCommit, variant.slug, slug, shape].join('\n')
  return `"${revision.id}.${createHash('sha1').update(shaped).digest('base64url').slice(0, 12)}"`
}

/** `If-Match: *` requires only that there is a revision. Otherwise it is one of our entity tags, and only its id is compared. */
export function readIfMatch(ifMatch: string): string {
  if (ifMatch.trim() === '*') return '*'
  const id = revisionOfEtag(ifMatch)
  if (id !== undefined) return id
  throw new Refusal(
    'precondition_failed',
    `If-Match ${JSON.stringify(ifMatch.slice(0, 100))} is no entity tag of a revision. Send the ETag of the revision you changed.`,
  )
}
