import type { Middleware, ParameterizedContext } from 'koa'
import { HttpMethodEnum, koaBody } from 'koa-body'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Refusal } from '../../errors.ts'
import { JsonTextError, type Json, type ParseJsonOptions, parseInTurns, parseJson } from '../../base/json.ts'
import { clientAbort } from '../routing/client-abort.ts'
import type { BodyShare } from './body-budget.ts'
import { BodyBudget, FREE_BYTES } from './body-budget.ts'

/** The limits of a body; `maxDepth` and `maxValues` as in `parseJson`. */
export interface BodyLimits extends ParseJsonOptions {
  /** Largest body in bytes, after decompression. */
  readonly maxBytes: number
  /** Maximum bytes of all request bodies together, except small ones, from arrival until their answer. */
  readonly maxHeldBytes: number
}

/** The text as it was sent, and its value. An empty body has the value undefined. */
export interface JsonBody {
  readonly text: string
  readonly value: Json | undefined
}

/** Reads the JSON body of a request, once; see `jsonBodyReader`. */
export type ReadJsonBody = (ctx: ParameterizedContext<unknown>) => Promise<JsonBody>

/**
 * Makes the reader of JSON bodies. koa-body reads and decompresses them. A large body without compression, or one of unknown length, is counted
 * here while it arrives, so that no memory is reserved for bytes that were only announced. The text is parsed by our own parser, because interface
 * 2.9 requires that every number, key and character comes back as it was sent. Refuses another media type, charset or encoding (415), a body above
 * a limit (413), one for which there is no memory now (503), text that is not UTF-8 or not JSON (400), and JSON that would be changed (422). A
 * body without a Content-Type counts as JSON.
 */
export function jsonBodyReader({ maxBytes, maxHeldBytes, ...most }: BodyLimits): ReadJsonBody {
  const budget = new BodyBudget(maxHeldBytes)
  const fetchBytes = koaBody({
    json: false,
    urlencoded: false,
    textTypes: [JSON_TYPE],
    textLimit: maxBytes,
    encoding: NO_DECODING,
    parsedMethods: Object.values(HttpMethodEnum),
  })

  return async (ctx) => {
    const { headers } = ctx.req
    const { 'content-length': length, 'content-encoding': encoding } = headers
    // RFC 9112 6.3: a request has a body if it gives a length, or is sent in chunks.
    if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) return NO_BODY
    if (headers['content-type'] !== JSON_TYPE || encoding !== undefined) checkMediaType(headers)
    if (Number(length) > maxBytes) throw tooLarge(maxBytes)
    try {
      const isSmall = encoding === undefined && Number(length) <= FREE_BYTES
      const bytes = isSmall ? await fetchWith(fetchBytes, ctx) : await collectLarge(ctx)
      if (bytes.length === 0) return NO_BODY
      if (!isUtf8(bytes)) throw notUtf8()
      const text = bytes.toString('utf8')
      if (text.length <= LARGE_TEXT) return { text, value: parseJson(text, most) }
      return { text, value: await parseInTurns(text, most, clientAbort(ctx.res)) }
    } catch (error) {
      drain(ctx)
      throw refusalOfJson(error) ?? refusalOfFetching(error, maxBytes) ?? error
    }
  }

  /** The bytes of a large body, or one of unknown length; they need a share of the memory. */
  async function collectLarge(ctx: ParameterizedContext<unknown>): Promise<Buffer> {
    const share = shareOf(ctx, budget)
    const { headers } = ctx.req
    if (headers['content-encoding'] === undefined) return collectCounted(ctx.req, maxBytes, share)
    share.hold(mostInflated(headers, maxBytes))
    // The decompressing stream does not notice that the connection is gone. Without this, the request would never end.
    const bytes = await Promise.race([fetchWith(fetchBytes, ctx), untilClosed(ctx)])
    share.hold(bytes.length)
    return bytes
  }
}

const JSON_TYPE = 'application/json'

/** Bytes that are not UTF-8 arrive unchanged, and can be refused. */
const NO_DECODING = ''

const NO_BODY: JsonBody = { text: '', value: undefined }

/** Leaves only the plain names in the headers, so that koa-body reads them as we do. */
function checkMediaType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type']
  if (type !== undefined && !isJsonInUtf8(type)) {
    throw new Refusal(
      'unsupported_media_type',
      `The body is announced as ${JSON.stringify(type.slice(0, 200))}; this route takes JSON in UTF-8: send ` +
        `"Content-Type: application/json".`,
    )
  }
  headers['content-type'] = JSON_TYPE
  const encoding = headers['content-encoding']
  if (encoding !== undefined) headers['content-encoding'] = encoding.toLowerCase()
}

function isJsonInUtf8(type: string): boolean {
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  if (!/^application\/(?:[a-z0-9!#$&^_.-]+\+)?json$/.test(media)) return false
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  )
}

/** The memory share of the request's body. It is given back when the answer was sent, or the client has gone. */
function shareOf({ res }: ParameterizedContext<unknown>, budget: BodyBudget): BodyShare {
  const share = budget.share()
  res.once('close', () => share.hold(0))
  return share
}

/** All bytes of a large body, counted as they arrive. */
function collectCounted(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        share.hold(bytes)
        chunks.push(chunk)
      } catch (error) {
        request.off('data', take)
        // The rest of the request may take minutes to arrive.
        chunks.length = 0
        reject(error)
      }
    }
    request.on('data', take)
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', () => reject(cutOff()))
  })
}

/** Deflate cannot expand a byte into more than this (zlib, Technical Details). Brotli has no such limit. */
const MOST_OF_A_BYTE = 1032

function mostInflated(headers: IncomingHttpHeaders, maxBytes: number): number {
  const length = Number(headers['content-length'])
  return headers['content-encoding'] === 'br' || !(length * MOST_OF_A_BYTE < maxBytes)
    ? maxBytes
    : length * MOST_OF_A_BYTE
}

async function fetchWith(fetchBytes: Middleware, ctx: ParameterizedContext<unknown>): Promise<Buffer> {
  // koa-body's types want Koa's own open state, which it does not touch.
  await fetchBytes(ctx as Parameters<Middleware>[0], () => Promise.resolve())
  const body: unknown = ctx.request.body
  return body as Buffer // The type describes bodies that koa-body decodes; this one it does not.
}

function untilClosed(ctx: ParameterizedContext<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    ctx.res.once('close', () => reject(cutOff()))
  })
}

/** Reads and drops the rest of a refused body, so that the client gets the answer and can use its connection again. */
function drain({ req }: ParameterizedContext<unknown>): void {
  req.unpipe()
  req.resume()
}

function refusalOfFetching(error: unknown, maxBytes: number): Refusal | undefined {
  if (error instanceof Refusal) return undefined
  const { type, status, code } = error as { type?: unknown; status?: unknown; code?: unknown } // of raw-body, inflation, zlib
  if (type === 'entity.too.large') return tooLarge(maxBytes)
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return new Refusal(
      'malformed_json',
      'The connection ended before the whole body was there; send it again.',
    )
  }
  if (status === 415) {
    return new Refusal(
      'unsupported_media_type',
      'The Content-Encoding of the body is not supported: use gzip, deflate, br or none.',
    )
  }
  if (typeof code === 'string' && /^(?:Z_|ERR_(?:BROTLI|_ERROR)|ERR_ZLIB)/.test(code)) {
    return new Refusal(
      'malformed_json',
      'The body does not decompress the way its Content-Encoding says; send it again.',
    )
  }
  return undefined
}

function cutOff(): Refusal {
  return new Refusal('malformed_json', 'The connection ended before the whole body was there; send it again.')
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    'body_too_large',
    `The body is larger than ${maxBytes} bytes, the limit of this server; send less.`,
    {
      details: { limit_bytes: maxBytes },
    },
  )
}

function notUtf8(): Refusal {
  return new Refusal(
    'malformed_json',
    'The body is not valid UTF-8, which JSON has to be; encode it as UTF-8.',
  )
}

/** A text up to the limit of a document is read without a pause; a longer one holds several documents, or rows. */
const LARGE_TEXT = 1024 * 1024

/**
 * The answer to a body that is not JSON, or not JSON that can be stored: 400 with line and column for a syntax error, 413 for too many values, 422
 * with the place for a value that would be changed (interface 2.9). Undefined for any other error.
 */
function refusalOfJson(error: unknown): Refusal | undefined {
  if (!(error instanceof JsonTextError)) return undefined
  const { kind, message, line, column, path } = error
  if (kind === 'syntax')
    return new Refusal('malformed_json', `The body: ${message}`, { details: { line, column } })
  if (kind === 'too_many_values')
    return new Refusal('limit_exceeded', `The body: ${message}`, { details: { line, column } })
  const problem = { loc: ['body', ...path], msg: message, type: kind }
  return new Refusal('invalid_request', `The body: ${message}`, {
    errors: [problem],
    details: { line, column },
  })
}
