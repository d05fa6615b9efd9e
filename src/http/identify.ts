import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import { normalisePath } from './normalise-path.ts'
import type { DoorState } from './request-state.ts'

/**
 * First at the door: gives the request its id (the caller's own `X-Request-Id` if it is sane) and brings the address into the form
 * routes know. Every answer has the headers of `doorHeaders`, here unless it is on its way already.
 */
export const identify: Middleware<DoorState> = async (ctx, next) => {
  const { req, res, state } = ctx
  const sent = req.headers['x-request-id']
  state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID()
  req.url = normalisePath(req.url ?? '/')
  await next()
  if (res.headersSent) return
  const headers = doorHeaders(state.requestId)
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
}

/**
 * Names and values in turn, as `writeHead` takes them: the request's id, and what forbids browsers to guess types (what else protects a
 * page, /docs sets).
 */
export function doorHeaders(requestId: string): string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/
