import { createHash } from 'node:crypto'
import { compress, encodingFor, etagMatches } from '../routing/send.ts'
import type { PublicRoute } from '../request.ts'

export interface ImmutableOptions {
  /** How long a client may keep the answer without asking; by default it asks each time whether its entity tag holds. */
  readonly cacheControl?: string
  /** Whether compressing makes it shorter; unless told otherwise, it does. */
  readonly isWorthCompressing?: boolean
}

/** It is compressed once and sent often: twice the time for an eighth less. */
const LASTING = 9

/**
 * Answers what stays the same as long as the server runs: made once, with an entity tag, compressed for whoever takes that. Requests that come
 * while it is made wait for the same one; where making it fails, the next request tries again.
 */
export function immutableResponse(
  type: string,
  make: () => string | Uint8Array | Promise<string>,
  { cacheControl = 'no-cache', isWorthCompressing = true }: ImmutableOptions = {},
): PublicRoute {
  let made: Promise<Tagged> | undefined
  return async (ctx) => {
    made ??= tagged(make).catch((error: unknown) => {
      made = undefined
      throw error
    })
    const { bytes, etag } = await made
    const encoding = isWorthCompressing ? encodingFor(ctx, bytes.length) : undefined
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', cacheControl)
    ctx.vary('Accept-Encoding')
    if (etagMatches(ctx.req.headers['if-none-match'], etag)) {
      ctx.status = 304
      return
    }
    if (encoding) ctx.set('Content-Encoding', encoding)
    ctx.body = encoding ? await compress(bytes, encoding, LASTING) : bytes
    ctx.type = type
  }
}

interface Tagged {
  readonly bytes: Buffer
  readonly etag: string
}

async function tagged(make: () => string | Uint8Array | Promise<string>): Promise<Tagged> {
  const bytes = Buffer.from(await make())
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }
}
