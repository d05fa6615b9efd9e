import type { Middleware } from 'koa'
import type { Authenticate } from '../../access/authenticator.ts'
import { Refusal } from '../../errors.ts'
import type { AuthenticatedContext, RequestState } from '../request-state.ts'
import type { RequestContext } from './when-closed.ts'

/**
 * Lets in who sends `Authorization: ApiKey <key>` with a live key (interface 5); everybody else is a 401. Sets `ctx.state.caller`.
 */
export function authenticate(callerOf: Authenticate): Middleware<RequestState> {
  return (ctx, next) => {
    setCaller(ctx, callerOf, apiKeyIn)
    return next()
  }
}

/** The same where the key may be somewhere else: `tokenIn` finds it in the header, or refuses. */
export function setCaller(
  ctx: RequestContext,
  callerOf: Authenticate,
  tokenIn: (header: string | undefined) => string,
): asserts ctx is AuthenticatedContext {
  const caller = callerOf(tokenIn(ctx.req.headers.authorization))
  if (!caller) {
    throw new Refusal(
      'unknown_key',
      'This API key is unknown or revoked. Ask an administrator for a live one.',
    )
  }
  ctx.state.caller = caller
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

/** The key in an Authorization header; undefined if there is none that can be read. */
export function sentKey(header: string | undefined): string | undefined {
  return /^ApiKey +(\S+)$/i.exec(header ?? '')?.[1]
}
