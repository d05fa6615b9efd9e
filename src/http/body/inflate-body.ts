import type { IncomingMessage } from 'node:http'
import { PassThrough, type Transform, finished } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Refusal } from '../../errors.ts'

/**
 * The body of a request as it arrives, inflated as its Content-Encoding says; ends by throwing what `tooLarge` makes once
 * more than `maxBytes` have come out. Refuses an unknown encoding (415), what does not inflate and what is cut off (400).
 *
 * However the reading ends, the rest of the body is let pass, so that the client gets its answer and the connection can be
 * used again; the server's request timeout bounds that.
 */
export async function* inflatedBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Refusal,
): AsyncGenerator<Buffer> {
  const body = inflater(request.headers['content-encoding'])
  // A pipe does not tell its end that the connection is gone; without this the request would hang for ever.
  const unwatch = finished(request, { writable: false }, (error) => {
    if (error) body.destroy(cutOff())
  })
  request.pipe(body)
  try {
    let total = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      total += chunk.length
      if (total > maxBytes) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw isOfInflating(error) ? notInflatable() : error
  } finally {
    unwatch()
    request.unpipe(body)
    request.resume()
  }
}

const INFLATED = { chunkSize: 64 * 1024 }

function inflater(encoding = 'identity'): Transform {
  switch (encoding.toLowerCase()) {
    case 'identity':
      return new PassThrough()
    case 'gzip':
      return createGunzip(INFLATED)
    case 'deflate':
      return createInflate(INFLATED)
    case 'br':
      return createBrotliDecompress(INFLATED)
    default:
      throw new Refusal(
        'unsupported_media_type',
        `The Content-Encoding ${JSON.stringify(encoding.slice(0, 80))} is not supported: use gzip, deflate, br or none.`,
      )
  }
}

/** zlib and brotli name their errors in two ways. */
function isOfInflating(error: unknown): boolean {
  const { code } = error as { code?: unknown } // whatever a stream was destroyed with is an object
  return typeof code === 'string' && /^(?:Z_|ERR_(?:BROTLI|_ERROR|ZLIB))/.test(code)
}

function notInflatable(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The body does not decompress the way its Content-Encoding says; send it again.',
  )
}

function cutOff(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The connection ended before the whole body was there; send it again.',
  )
}
