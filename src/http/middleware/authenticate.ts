import type { IncomingHttpHeaders } from 'node:http'
import type { Middleware } from 'koa'
import type { Authenticate } from '../../access/authenticator.ts'
import type { Caller } from '../../access/caller.ts'
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { AuthenticatedContext, RequestState } from '../request-state.ts'
import type { SessionDoor } from '../sessions/session-door.ts'
import { apiKeyIn } from './sent-key.ts'
import type { RequestContext } from './when-closed.ts'

/** Where a browser sends a key and gets a session: the one route that is asked without having either. */
export const SIGN_IN = '/sessions'

/** Lets in who sends a live key (see apiKeyIn), or the cookie of a session; everybody else is a 401. Sets `ctx.state.caller`. */
export function authenticate(callerOf: Authenticate, door: SessionDoor): Middleware<RequestState> {
  return (ctx, next) => {
    if (ctx.path === SIGN_IN && ctx.method === 'POST') door.assertMaySignIn(ctx)
    else letIn(ctx, callerOf, door)
    return next()
  }
}

/** Who sends a request, by its key or by its session: answers and sets it. Refuses where it has neither, or one that is not good. */
export function letIn(ctx: RequestContext, callerOf: Authenticate, door: SessionDoor): Caller {
  const session = door.sessionOf(ctx)
  if (!session) {
    setCaller(ctx, callerOf, apiKeyIn)
    const { authorization, 'x-api-key': alone } = ctx.req.headers
    if (authorization === undefined || alone !== undefined) keepFromOthers(ctx)
    return ctx.state.caller
  }
  ctx.state.session = session
  ctx.state.caller = session.caller
  keepFromOthers(ctx)
  return session.caller
}

/**
 * A cache in between knows that what an Authorization header is answered is not for others; a cookie or X-API-Key tells it nothing. Beside
 * the latter that header may be the cache's own.
 */
function keepFromOthers(ctx: RequestContext): void {
  ctx.set('Cache-Control', 'private, no-cache')
}

/** The caller where there is one, for what is answered to everybody. */
export function callerIfAny(
  ctx: RequestContext,
  callerOf: Authenticate,
  door: SessionDoor,
): Caller | undefined {
  try {
    return letIn(ctx, callerOf, door)
  } catch (error) {
    if (error instanceof Refusal && NOBODY.includes(error.code)) return undefined
    throw error
  }
}

const NOBODY: readonly RefusalCode[] = ['missing_key', 'unknown_key', 'unknown_session', 'foreign_origin']

/** Sets the caller by the key alone: `tokenIn` finds it in the headers, or refuses. */
export function setCaller(
  ctx: RequestContext,
  callerOf: Authenticate,
  tokenIn: (headers: IncomingHttpHeaders) => string,
): asserts ctx is AuthenticatedContext {
  const caller = callerOf(tokenIn(ctx.req.headers))
  if (!caller) throw refusedKey()
  ctx.state.caller = caller
}

/** A 401 for a key that is none, or no longer one. */
export function refusedKey(): Refusal {
  return new Refusal(
    'unknown_key',
    'This API key is unknown or revoked. Ask an administrator for a live one.',
  )
}
