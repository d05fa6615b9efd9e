import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import { Histogram, type Registry } from 'prom-client'
import type { Authenticate, Caller, OpenSession, Sessions } from '../access/keys.ts'
import { Refusal, type RefusalCode } from '../errors.ts'
import { beginReadEpoch } from '../base/scheduling.ts'
import { IDLE_SECONDS } from './server/server.ts'
import { foreignOrigin, isFromOwnPage } from './sessions/own-origin.ts'
import { sessionTokenIn } from './sessions/session-cookie.ts'

/** A session and its token. */
export interface SignedIn extends OpenSession {
  readonly token: string
}

/** `ctx.state`: the known facts about a request. */
export interface RequestState {
  /** The `X-Request-Id` of the answer and of the log line. */
  requestId: string
  /** The key with which it was sent; undefined before `authenticate`. */
  caller?: Caller
  /** The session with which it came, if it did not send the key itself. */
  session?: SignedIn | undefined
  /** Set by the router for requests that only read, or that run something and leave a trace. */
  isRead?: boolean
  /** The pattern of the route that answers. */
  route?: string
  /** The `WWW-Authenticate` of a 401, if it differs from the usual one. */
  challenge?: string
  /** The client prints the answer on a terminal, so an error is a sentence, not a document. */
  isTerminal?: boolean
}

/** A request whose caller is known, and its answer. */
export type AuthenticatedContext = ParameterizedContext<RequestState & { readonly caller: Caller }>

/** A request and its answer, as the app sees them. */
export type RequestContext = ParameterizedContext<RequestState>

/** Answers a GET that needs no key, or asks for one itself. */
export type PublicRoute = (ctx: RequestContext) => void | Promise<void>

/** Called for each request once its answer was sent or its client has gone, with the milliseconds since its headers arrived. */
export type Observe = (ctx: RequestContext, ms: number) => void

/**
 * Begins a request: gives it its id (the client's own `X-Request-Id` if that is sane), brings the address into the form that routes know, and
 * sets the headers of every answer: the id, what forbids browsers to guess types (/docs sets the other headers that protect a page), and how long
 * the connection is kept for the next request. Logs and counts it at its end.
 */
export function requests(log: Logger, observe: Observe): Middleware<RequestState> {
  return (ctx, next) => {
    beginReadEpoch()
    const start = performance.now()
    const { req, res, state } = ctx
    const sent = req.headers['x-request-id']
    state.requestId = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID().replaceAll('-', '')
    req.url = normalisePath(req.url ?? '/')
    ctx.set('X-Request-Id', state.requestId)
    ctx.set('X-Content-Type-Options', 'nosniff')
    // For an older client, node decides later whether the connection is kept, from the answer.
    if (res.shouldKeepAlive && req.httpVersionMinor > 0) ctx.set('Keep-Alive', KEPT)
    res.once('close', () => {
      const ms = performance.now() - start
      // Successful reads are the most frequent requests, so they are logged only for debugging.
      const level = state.isRead && res.statusCode < 400 && res.writableFinished ? 'debug' : 'info'
      if (log.isLevelEnabled(level)) log[level](lineOf(ctx, ms), 'request')
      observe(ctx, ms)
    })
    return next()
  }
}

const KEPT = `timeout=${IDLE_SECONDS}`

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/**
 * The form of an address that routes see: without leading `/api` and `/preview` segments, unless it counts exactly as written (interface 16.1),
 * without a trailing slash (interface 2.1), and with the query string unchanged.
 */
export function normalisePath(url: string): string {
  const [, path = '/', query = ''] = ADDRESS.exec(url) ?? []
  if (url.startsWith('/')) return path + query
  return URL.canParse(url) ? normalisePath(withoutOrigin(url)) : url
}

const ADDRESS =
  /^(?:(?!(?:\/(?:api|preview))*\/(?:public\/v2|beta)\/)(?:\/(?:api|preview)(?![^/?]))*)?(\/[^?]*?)?\/?(\?.*)?$/s

/** Whether an address is one of those at which clients of other products read prompts (interface 16.1). */
export function isOfOthers(path: string): boolean {
  return path.startsWith(LANGFUSE) || path.startsWith('/beta/')
}

/** Whether the client is one of Langfuse's SDKs, which send keys as git does. */
export function takesBasic(path: string): boolean {
  return path.startsWith(LANGFUSE)
}

const LANGFUSE = '/api/public/v2/'

/** Asks a client for a key that it can send as a password. */
export const BASIC = 'Basic realm="Branchpoint", charset="UTF-8"'

/** RFC 9112 3.2.2: a server must take the absolute form that clients send to proxies. */
function withoutOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/**
 * The log line of a request whose answer was sent or whose client has gone: id, method, path without the query string, status, milliseconds, bytes
 * of the answer, id of the key. Never a header or a body.
 */
function lineOf({ res, method, originalUrl, state }: RequestContext, ms: number): object {
  const length = res.getHeader('content-length')
  return {
    requestId: state.requestId,
    method,
    path: originalUrl.split('?', 1)[0],
    status: res.statusCode,
    ms: Math.round(ms * 1000) / 1000,
    bytes: length === undefined ? undefined : Number(length),
    keyId: state.caller?.key.id,
    aborted: res.writableFinished ? undefined : true,
  }
}

/** Where a browser sends a key and gets a session: the only route that needs neither. */
export const SIGN_IN = '/sessions'

/** Lets in a request with a live key (see apiKeyIn) or the cookie of a session, and answers all others with 401. Sets `ctx.state.caller`. */
export function authenticate(callerOf: Authenticate, door: SessionDoor): Middleware<RequestState> {
  return (ctx, next) => {
    if (ctx.path === SIGN_IN && ctx.method === 'POST') door.assertMaySignIn(ctx)
    else letIn(ctx, callerOf, door)
    return next()
  }
}

/** Finds the sender of a request by its key or its session, and sets it. Refuses a request without a valid one. */
export function letIn(ctx: RequestContext, callerOf: Authenticate, door: SessionDoor): Caller {
  const { headers } = ctx.req
  const session = headers.cookie === undefined ? undefined : door.sessionOf(ctx)
  const caller = session ? session.caller : callerOf(apiKeyIn(headers, ctx.path))
  if (!caller) throw refusedKey()
  ctx.state.session = session
  ctx.state.caller = caller
  if (session || headers.authorization === undefined || headers['x-api-key'] !== undefined)
    keepFromOthers(ctx)
  return caller
}

/**
 * A shared cache knows that the answer to an Authorization header is private; a cookie or X-API-Key does not tell it. A request with X-API-Key may
 * have an Authorization header that belongs to the cache.
 */
function keepFromOthers(ctx: RequestContext): void {
  ctx.set('Cache-Control', 'private, no-cache')
}

/** The caller, if there is one, for addresses that answer everybody. */
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

const NOBODY: readonly RefusalCode[] = [
  'missing_key',
  'unknown_key',
  'key_expired',
  'unknown_session',
  'foreign_origin',
]

/** Sets the caller of a git program's request, by the key alone: `tokenIn` finds it in the headers, or refuses. */
export function setCaller(
  ctx: RequestContext,
  callerOf: Authenticate,
  tokenIn: (headers: IncomingHttpHeaders) => string,
): asserts ctx is AuthenticatedContext {
  const caller = callerOf(tokenIn(ctx.req.headers))
  if (!caller) throw refusedKey()
  ctx.state.caller = caller
}

/** A 401 for an unknown or revoked key. */
export function refusedKey(): Refusal {
  return new Refusal(
    'unknown_key',
    'This API key is unknown or revoked. Ask an administrator for a live one.',
  )
}

/**
 * The key of a request (interface 2.3): in `Authorization: ApiKey <key>` or `Authorization: Bearer <key>`, or alone in `X-API-Key`. Beside
 * `X-API-Key`, an Authorization header of another kind belongs to somebody else, such as a proxy; two different keys are refused as
 * `contradictory_request`. Some addresses also take the key as a password. Refuses with `missing_key` if there is none, and says what was found in
 * its place.
 */
export function apiKeyIn({ authorization = '', 'x-api-key': alone }: IncomingHttpHeaders, path = ''): string {
  const [, inHeader] = /^(?:ApiKey|Bearer) +(\S+)$/i.exec(authorization) ?? []
  return alone === undefined ? (inHeader ?? otherKey(authorization, path)) : soleKey(String(alone), inHeader)
}

function otherKey(authorization: string, path: string): string {
  return takesBasic(path) ? keyOrPasswordIn({ authorization }) : refuseHeader(authorization)
}

/**
 * The key of a client that sends a user name and a password, as git does: in one of the usual headers, or by Basic authentication (RFC 7617) with
 * any user name and the key as password.
 */
export function keyOrPasswordIn(headers: IncomingHttpHeaders): string {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined || headers['x-api-key'] !== undefined) return apiKeyIn(headers)
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  if (pair.includes(':') && password !== '') return password
  throw new Refusal(
    'missing_key',
    'The password is empty: give any user name, and an API key as the password.',
  )
}

function soleKey(key: string, inHeader: string | undefined): string {
  if (!/^\S+$/.test(key)) throw noKey(`The X-API-Key header ${key === '' ? 'is empty' : 'is not one key'}`)
  if (inHeader === undefined || inHeader === key) return key
  throw new Refusal(
    'contradictory_request',
    'The headers Authorization and X-API-Key carry two different keys: send one of them.',
  )
}

/** Whether a request contains a key, valid or not. */
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

/** The parts of a request that identify its sender. */
interface AskedBy {
  readonly method: string
  readonly req: { readonly headers: IncomingHttpHeaders }
}

/** The sign-in of browsers: by the cookie of a session in place of a key. */
export class SessionDoor {
  readonly #sessions: Pick<Sessions, 'find'>
  readonly #publicUrl: string | undefined

  /** `publicUrl` is the address of the server for browsers, if it is set. */
  constructor(sessions: Pick<Sessions, 'find'>, publicUrl: string | undefined) {
    this.#sessions = sessions
    this.#publicUrl = publicUrl
  }

  /**
   * The session of a request's cookie; undefined without a cookie, or with a key in a header, which is used instead. Refuses an ended session with
   * `unknown_session`, and a request that another page may have started with `foreign_origin`: writes must come from a page of this server, and
   * reads must not come from a page of another one.
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

  /** Refuses a sign-in that a page of another server sends: the browser's user would then act with somebody else's key. */
  assertMaySignIn({ req: { headers } }: AskedBy): void {
    if (isFromOwnPage(headers, this.#publicUrl) === false) throw foreignOrigin(headers)
  }

  /** Refuses a request from a page of another server, whatever key it has (interface 17.1). */
  assertNoOtherPage({ req: { headers } }: AskedBy): void {
    if (isFromOwnPage(headers, this.#publicUrl) !== false) return
    throw new Refusal(
      'foreign_origin',
      `The request comes from a page of ${String(headers.origin ?? 'another server').slice(0, 200)}. Only pages of this server may send it, ` +
        'and programs, which have no page; where the server is behind a proxy, set PUBLIC_URL to the address that browsers know.',
    )
  }

  /** The token of a request, valid or not. */
  tokenIn({ cookie }: IncomingHttpHeaders): string | undefined {
    return sessionTokenIn(cookie, this.#publicUrl?.startsWith('https:') ?? false)
  }
}

/** Seconds: a retrieve takes less than a millisecond, an invocation may take minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/**
 * Measures the duration of every request, from its headers to the end of its answer or the loss of its client, by method, route and class of
 * status. A route is its pattern, never the requested path, so that clients cannot create new ones. Requests that are refused before a route is
 * found count as `none`.
 */
export function observeRequests(registry: Registry): Observe {
  const times = new Histogram({
    name: 'branchpoint_http_request_duration_seconds',
    help: 'Requests by method, route pattern and class of status, and how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return ({ res, state: { route = 'none' }, method }, ms) => {
    const status = res.writableFinished ? CLASSES[Math.floor(res.statusCode / 100)] : 'aborted'
    const labels = { method: METHODS.has(method) ? method : 'other', route, status: status ?? 'other' }
    times.observe(labels, ms / 1000)
  }
}

const CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
