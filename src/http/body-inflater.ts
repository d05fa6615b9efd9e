import type { Middleware, ParameterizedContext } from 'koa'
import { HttpMethodEnum, koaBody } from 'koa-body'

/**
 * Makes what reads the compressed bodies of JSON requests: inflates them, to so many bytes at most, and throws what koa-body and zlib do.
 * The package takes forty milliseconds to load and few clients compress, so this file is loaded by the first body of that kind.
 */
export function bodyInflater(maxBytes: number): (ctx: ParameterizedContext<unknown>) => Promise<Buffer> {
  const fetchBytes = koaBody({
    json: false,
    urlencoded: false,
    textTypes: ['application/json'],
    textLimit: maxBytes,
    encoding: BYTES_AS_TEXT,
    parsedMethods: Object.values(HttpMethodEnum),
  })
  return async (ctx) => {
    // koa-body is typed for Koa's own open state; it does not touch the state.
    await fetchBytes(ctx as Parameters<Middleware>[0], nothingNext)
    return Buffer.from(String(ctx.request.body), BYTES_AS_TEXT)
  }
}

/** One character for each byte, so that bytes which are not UTF-8 arrive unharmed and can be refused. */
const BYTES_AS_TEXT = 'binary'

function nothingNext(): Promise<void> {
  return Promise.resolve()
}
