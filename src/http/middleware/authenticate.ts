import type { Middleware } from 'koa'
import type { Authenticate } from '../../access/authenticator.ts'
import type { Caller } from '../../access/caller.ts'
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { AuthenticatedContext, RequestState } from '../request-state.ts'
import type { SessionDoor } from '../sessions/session-door.ts'
import type { RequestContext } from './when-closed.ts'

/** Where a browser sends a key and gets a session: the one route that is asked without having either. */
export const SIGN_IN = '/sessions'

/**
 * Lets in who sends `Authorization: ApiKey <key>` with a live key (interface 5), or the cookie of a session; everybody else is a 401. Sets
 * `ctx.state.caller`.
 */
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
    return ctx.state.caller
  }
  ctx.state.session = session
  ctx.state.caller = session.caller
  // A cache in between knows that what a key is answered is not for others; a cookie tells it nothing.
  ctx.set('Cache-Control', 'private, no-cache')
  return session.caller
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

/** Sets the caller by the key alone, which may be somewhere else: `tokenIn` finds it in the header, or refuses. */
export function setCaller(
  ctx: RequestContext,
  callerOf: Authenticate,
  tokenIn: (header: string | undefined) => string,
): asserts ctx is AuthenticatedContext {
  const caller = callerOf(tokenIn(ctx.req.headers.authorization))
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

/** The key in an Authorization header; refuses with `missing_key` if there is none. */
export function apiKeyIn(header: string | undefined): string {
  if (header === undefined || header.trim() === '') {
    throw new Refusal(
      'missing_key',
      'The request carries no key: send the header "Authorization: ApiKey <key>".',
    )
  }
  const key = sentKey(header)
  if (key !== undefined) return key
  const scheme = /^[A-Za-z]+(?= )/.exec(header)?.[0]
  const what =
    scheme === undefined ? 'is not ApiKey and one key' : `has the scheme ${scheme}, not ApiKey and one key`
  throw new Refusal('missing_key', `The Authorization header ${what}: send "Authorization: ApiKey <key>".`)
}

/** The same; undefined if there is none that can be read. */
function sentKey(header: string | undefined): string | undefined {
  return /^ApiKey +(\S+)$/i.exec(header ?? '')?.[1]
}
