import { type Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { ParameterizedContext } from 'koa'

/** How answers are compressed, for whoever takes it (RFC 9110 8.4.1). */
export type Encoding = 'br' | 'gzip'

/** Shorter answers fit into one packet as they are. */
const LEAST_BYTES = 1024

/** Brotli's best takes a hundred times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

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

/** The bytes compressed, in another thread. What is kept and sent again is compressed once. */
export function compress(bytes: Buffer | string, encoding: Encoding): Promise<Buffer> {
  if (typeof bytes === 'string') return compressNow(Buffer.from(bytes), encoding)
  const known = compressed[encoding].get(bytes)
  if (known) return known
  const made = compressNow(bytes, encoding)
  compressed[encoding].set(bytes, made)
  return made
}

const compressed: Readonly<Record<Encoding, WeakMap<Buffer, Promise<Buffer>>>> = {
  br: new WeakMap(),
  gzip: new WeakMap(),
}

function compressNow(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? compressors.br(bytes, BROTLI) : compressors.gzip(bytes)
}

/** A stream of the same, compressed. It fails with what it reads from, which it destroys when it is destroyed. */
export function compressStream(from: Readable, encoding: Encoding): Readable {
  const into = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip()
  return pipeline(from, into, () => undefined) // whoever reads is told of an error by the stream itself
}
