import { Readable } from 'node:stream'
import type { Middleware } from 'koa'
import type { RequestState } from '../request-state.ts'

/**
 * Lets go of an answer whose client went before it was there. Koa learns of that from the answer's socket, and one that waits for others of
 * its connection has none yet: a stream would be read from for ever.
 */
export const clientGone: Middleware<RequestState> = async (ctx, next) => {
  await next()
  if (!ctx.res.destroyed) return
  if (ctx.body instanceof Readable) ctx.body.destroy()
  ctx.respond = false
}
