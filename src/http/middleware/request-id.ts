import type { ServerResponse } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { randomHex } from '../../traces/recording/random-hex.ts'
import { normalisePath } from './normalise-path.ts'
import type { DoorState } from '../request-state.ts'
import { IDLE_SECONDS } from '../server/server.ts'

/**
 * First at the door: gives the request its id (the caller's own `X-Request-Id` if it is sane) and brings the address into the form
 * routes know.
 */
export function requestId({ req, state }: ParameterizedContext<DoorState>): void {
  const sent = req.headers['x-request-id']
  state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomHex(16)
  req.url = normalisePath(req.url ?? '/')
}

/**
 * The headers of every answer, names and values in turn, as `writeHead` takes them: the request's id, what forbids browsers to guess
 * types (what else protects a page, /docs sets), and how long the connection is kept for the next request.
 */
export function doorHeaders(requestId: string, { shouldKeepAlive, req }: ServerResponse): string[] {
  const headers = ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
  // Whether an older client's connection is kept, node decides later, by what the answer is.
  if (shouldKeepAlive && req.httpVersionMinor > 0) headers.push('Keep-Alive', KEPT)
  return headers
}

const KEPT = `timeout=${IDLE_SECONDS}`

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/
