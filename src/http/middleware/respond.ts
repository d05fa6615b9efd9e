import { Readable, pipeline } from 'node:stream'
import type { ParameterizedContext } from 'koa'
import type { DoorState } from '../request-state.ts'

/**
 * Writes out what was put on a context (`ctx.body`: text, bytes, a stream, or an object as JSON), as Koa does. A stream that fails ends
 * the connection, and is told to Koa's `error`.
 */
export function respond(ctx: ParameterizedContext<DoorState>): void {
  if (isObject(ctx.body)) ctx.body = JSON.stringify(ctx.body)
  const { res, body } = ctx
  if (res.destroyed || !ctx.writable || ctx.method === 'HEAD') {
    // Nobody will read it, and what it reads from must learn of that.
    if (body instanceof Readable) body.destroy()
    if (!res.destroyed) res.end()
  } else if (body instanceof Readable) pipeline(body, res, (error) => error && ctx.onerror(error))
  else res.end(body)
}

function isObject(body: unknown): boolean {
  return typeof body === 'object' && !Buffer.isBuffer(body) && !(body instanceof Readable)
}
