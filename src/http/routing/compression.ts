import { type Readable, pipeline } from 'node:stream'
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

/** How answers are compressed, for whoever takes it (RFC 9110 8.4.1). */
export type Encoding = 'br' | 'gzip'

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
  return (['br', 'gzip'] as const).find((encoding) => ctx.acceptsEncodings(encoding) === encoding)
}

/** Whether an answer of so many bytes depends on what the client takes. */
export function varies(bytes: number): boolean {
  return bytes >= LEAST_BYTES
}

/** The bytes compressed, in another thread. What is kept and sent again is compressed once. `quality` is Brotli's, from 0 to 11. */
export function compress(
  bytes: Buffer | string,
  encoding: Encoding,
  quality: number = QUALITY,
): Promise<Buffer> {
  if (typeof bytes === 'string') return compressNow(Buffer.from(bytes), encoding, quality)
  const known = compressed[encoding].get(bytes)
  if (known) return known
  const made = compressNow(bytes, encoding, quality)
  compressed[encoding].set(bytes, made)
  return made
}

const compressed: Readonly<Record<Encoding, WeakMap<Buffer, Promise<Buffer>>>> = {
  br: new WeakMap(),
  gzip: new WeakMap(),
}

function compressNow(bytes: Buffer, encoding: Encoding, quality: number): Promise<Buffer> {
  return encoding === 'br' ? compressors.br(bytes, brotli(quality)) : compressors.gzip(bytes)
}

function brotli(quality: number): BrotliOptions {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }
}

/** A stream of the same, compressed. It fails with what it reads from, which it destroys when it is destroyed. */
export function compressStream(from: Readable, encoding: Encoding): Readable {
  const into = encoding === 'br' ? createBrotliCompress(brotli(QUALITY)) : createGzip()
  return pipeline(from, into, () => undefined) // whoever reads is told of an error by the stream itself
}
