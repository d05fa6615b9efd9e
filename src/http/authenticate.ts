import type { IncomingHttpHeaders } from 'node:http'
import type { Middleware } from 'koa'
import type { Authenticate } from '../access/authenticator.ts'
import type { Caller } from '../access/caller.ts'
import type { Sessions } from '../access/sessions/sessions.ts'
import { Refusal, type RefusalCode } from '../errors.ts'
import type { AuthenticatedContext, RequestContext, RequestState, SignedIn } from './request.ts'
import { foreignOrigin, isFromOwnPage } from './sessions/own-origin.ts'
import { sessionTokenIn } from './sessions/session-cookie.ts'

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

/**
 * The key that a request carries (interface 2.3): in `Authorization: ApiKey <key>` or `Authorization: Bearer <key>`, or alone in `X-API-Key`.
 * Beside the latter, an Authorization header of another kind is somebody else's, such as a proxy's, and another key is refused as
 * `contradictory_request`. Refuses with `missing_key` where there is none, and says what is there in its place.
 */
export function apiKeyIn({ authorization = '', 'x-api-key': alone }: IncomingHttpHeaders): string {
  const [, inHeader] = /^(?:ApiKey|Bearer) +(\S+)$/i.exec(authorization) ?? []
  if (alone === undefined) return inHeader ?? refuseHeader(authorization)
  const key = String(alone)
  if (!/^\S+$/.test(key)) throw noKey(`The X-API-Key header ${key === '' ? 'is empty' : 'is not one key'}`)
  if (inHeader === undefined || inHeader === key) return key
  throw new Refusal(
    'contradictory_request',
    'The headers Authorization and X-API-Key carry two different keys: send one of them.',
  )
}

/** Whether a request names a key, be it a good one or not. */
function bringsKey({ authorization, 'x-api-key': alone }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || alone !== undefined
}

function refuseHeader(authorization: string): never {
  if (authorization.trim() === '') throw noKey('The request carries no key')
  const scheme = /^[A-Za-z]+(?= )/.exec(authorization)?.[0]
  const isOurs = /^(?:ApiKey|Bearer)$/i.test(scheme ?? '')
  const what =
    scheme === undefined || isOurs
      ? 'is not ApiKey and one key'
      : `has the scheme ${scheme}, not ApiKey and one key`
  throw noKey(`The Authorization header ${what}`)
}

function noKey(what: string): Refusal {
  return new Refusal(
    'missing_key',
    `${what}: send the header "Authorization: ApiKey <key>" (or "Bearer <key>", or "X-API-Key: <key>").`,
  )
}

/** As much of a request as says who sends it. */
interface AskedBy {
  readonly method: string
  readonly req: { readonly headers: IncomingHttpHeaders }
}

/** How browsers come in: with the cookie of a session in place of a key. */
export class SessionDoor {
  readonly #sessions: Pick<Sessions, 'find'>
  readonly #publicUrl: string | undefined

  /** `publicUrl` is the address that browsers know, where it is set. */
  constructor(sessions: Pick<Sessions, 'find'>, publicUrl: string | undefined) {
    this.#sessions = sessions
    this.#publicUrl = publicUrl
  }

  /**
   * The session of a request's cookie; undefined if it has none, or the header of a key, which counts then. Refuses with
   * `unknown_session` where the session is over, and with `foreign_origin` what another page may have started: whatever writes has to come from
   * a page of this server, and what reads from no page of another one.
   */
  sessionOf({ method, req: { headers } }: AskedBy): SignedIn | undefined {
    const token = headers.cookie === undefined || bringsKey(headers) ? undefined : this.tokenIn(headers)
    return token === undefined ? undefined : this.#sessionWith(token, method, headers)
  }

  #sessionWith(token: string, method: string, headers: IncomingHttpHeaders): SignedIn {
    const session = this.#sessions.find(token)
    if (!session)
      throw new Refusal(
        'unknown_session',
        'You were signed in, and that is over. Sign in again, or send an API key.',
      )
    const { 'sec-fetch-site': site } = headers
    const isRead = method === 'GET' || method === 'HEAD'
    const isOwn = isRead
      ? site === undefined || site === 'same-origin' || site === 'none' // none: somebody typed the address
      : isFromOwnPage(headers, this.#publicUrl) === true
    if (!isOwn) throw foreignOrigin(headers)
    return { ...session, token }
  }

  /** Refuses to sign a browser in that a page of another server sends: its user would work in somebody else's name. */
  assertMaySignIn({ req: { headers } }: AskedBy): void {
    if (isFromOwnPage(headers, this.#publicUrl) === false) throw foreignOrigin(headers)
  }

  /** The token that a request brings, whether it is good or not. */
  tokenIn({ cookie }: IncomingHttpHeaders): string | undefined {
    return sessionTokenIn(cookie, this.#publicUrl?.startsWith('https:') ?? false)
  }
}
