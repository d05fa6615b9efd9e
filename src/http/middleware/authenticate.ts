import type { ParameterizedContext } from 'koa'
import type { Authenticate } from '../../access/authenticator.ts'
import { Refusal } from '../../errors.ts'
import type { DoorState } from '../request-state.ts'

/**
 * Lets in who sends `Authorization: ApiKey <key>` with a live key (interface 5), or whatever else `tokenIn` finds a key in;
 * everybody else is a 401. Sets `ctx.state.caller`.
 */
export function authenticate(
  callerOf: Authenticate,
  tokenIn = apiKeyIn,
): (ctx: ParameterizedContext<DoorState>) => void {
  return (ctx) => {
    const token = tokenIn(ctx.req.headers.authorization)
    const caller = callerOf(token)
    if (!caller) {
      throw new Refusal(
        'unknown_key',
        'This API key is unknown or revoked. Ask an administrator for a live one.',
      )
    }
    ctx.state.caller = caller
  }
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
