import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import { normalisePath } from './normalise-path.ts'
import type { DoorState } from './request-state.ts'

/**
 * First at the door: gives the request its id (the caller's own `X-Request-Id` if it is sane), answers it, forbids
 * browsers to guess types (what else protects a page, /docs sets), and brings the address into the form routes know.
 */
export const identify: Middleware<DoorState> = (ctx, next) => {
  const { req, res, state } = ctx
  const sent = req.headers['x-request-id']
  state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID()
  res.setHeader('X-Request-Id', state.requestId)
  res.setHeader('X-Content-Type-Options', 'nosniff')
  req.url = normalisePath(req.url ?? '/')
  return next()
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/
