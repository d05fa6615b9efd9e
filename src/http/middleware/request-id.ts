import type { Middleware } from 'koa'
import { randomHex } from '../../traces/recording/random-hex.ts'
import { normalisePath } from './normalise-path.ts'
import type { RequestState } from '../request-state.ts'
import { IDLE_SECONDS } from '../server/server.ts'

/**
 * Gives the request its id (the caller's own `X-Request-Id` if it is sane), brings the address into the form that routes know, and sets the
 * headers of every answer: the id, what forbids browsers to guess types (what else protects a page, /docs sets), and how long the
 * connection is kept for the next request.
 */
export const requestId: Middleware<RequestState> = (ctx, next) => {
  const { req, res, state } = ctx
  const sent = req.headers['x-request-id']
  state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomHex(16)
  req.url = normalisePath(req.url ?? '/')
  ctx.set('X-Request-Id', state.requestId)
  ctx.set('X-Content-Type-Options', 'nosniff')
  // Whether an older client's connection is kept, node decides later, by what the answer is.
  if (res.shouldKeepAlive && req.httpVersionMinor > 0) ctx.set('Keep-Alive', KEPT)
  return next()
}

const KEPT = `timeout=${IDLE_SECONDS}`

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/
