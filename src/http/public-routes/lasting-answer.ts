import { createHash } from 'node:crypto'
import { compress, encodingFor } from '../routing/compression.ts'
import { etagMatches } from '../revisions/etag.ts'
import type { PublicRoute } from './public-routes.ts'

/** Answers a text that stays the same as long as the server runs: made once, with an entity tag, compressed for whoever takes that. */
export function immutableResponse(type: string, make: () => string): PublicRoute {
  let made: { readonly bytes: Buffer; readonly etag: string } | undefined
  return async (ctx) => {
    made ??= tagged(make())
    const { bytes, etag } = made
    const encoding = encodingFor(ctx, bytes.length)
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', 'no-cache')
    ctx.vary('Accept-Encoding')
    if (etagMatches(ctx.req.headers['if-none-match'], etag)) {
      ctx.status = 304
      return
    }
    if (encoding) ctx.set('Content-Encoding', encoding)
    ctx.body = encoding ? await compress(bytes, encoding) : bytes
    ctx.type = type
  }
}

function tagged(text: string): { readonly bytes: Buffer; readonly etag: string } {
  return {
    bytes: Buffer.from(text),
    etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
  }
}
