import { randomUUID } from 'node:crypto'
import type { ParameterizedContext } from 'koa'
import { normalisePath } from './normalise-path.ts'
import type { DoorState } from './request-state.ts'

/**
 * First at the door: gives the request its id (the caller's own `X-Request-Id` if it is sane) and brings the address into the form
 * routes know.
 */
export function identify({ req, state }: ParameterizedContext<DoorState>): void {
  const sent = req.headers['x-request-id']
  state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID()
  req.url = normalisePath(req.url ?? '/')
}

/**
 * The headers of every answer, names and values in turn, as `writeHead` takes them: the request's id, and what forbids browsers to guess
 * types (what else protects a page, /docs sets).
 */
export function doorHeaders(requestId: string): string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff']
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/
