import { randomUUID } from 'node:crypto'
import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import { Histogram, type Registry } from 'prom-client'
import type { Caller } from '../access/caller.ts'
import type { OpenSession } from '../access/sessions/sessions.ts'
import { beginReadEpoch } from '../storage/read-epoch.ts'
import { IDLE_SECONDS } from './server/server.ts'

/** A session and the token that it goes by. */
export interface SignedIn extends OpenSession {
  readonly token: string
}

/** `ctx.state`: what is known of a request by now. */
export interface RequestState {
  /** The `X-Request-Id` of the answer and of the log line. */
  requestId: string
  /** Whose key it was sent with; nobody's before `authenticate`. */
  caller?: Caller
  /** The session that it came with, where it was not the key itself. */
  session?: SignedIn
  /** Set by the router for requests that only read, or run something: that leaves a trace. */
  isRead?: boolean
  /** The pattern of the route that answers. */
  route?: string
  /** How who has no key is asked for one (`WWW-Authenticate`), where not as everywhere. */
  challenge?: string
  /** The client prints what it gets on a terminal: an error is its sentence there, and no document. */
  isTerminal?: boolean
}

/** A request whose caller is known, and its answer. */
export type AuthenticatedContext = ParameterizedContext<RequestState & { readonly caller: Caller }>

/** A request and its answer, as the app sees them. */
export type RequestContext = ParameterizedContext<RequestState>

/** Answers a GET that needs no key, or asks for one itself. */
export type PublicRoute = (ctx: RequestContext) => void | Promise<void>

/** What is told of each request once its answer has left or its client has gone, with the milliseconds since its headers were there. */
export type Observe = (ctx: RequestContext, ms: number) => void

/**
 * Begins a request: gives it its id (the client's own `X-Request-Id` if that is sane), brings the address into the form that routes know, and
 * sets the headers of every answer: the id, what forbids browsers to guess types (what else protects a page, /docs sets), and how long the
 * connection is kept for the next request. Logs and counts it at its end.
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
    // Whether an older client's connection is kept, node decides later, by what the answer is.
    if (res.shouldKeepAlive && req.httpVersionMinor > 0) ctx.set('Keep-Alive', KEPT)
    res.once('close', () => {
      const ms = performance.now() - start
      // A successful read is the most frequent and the least remarkable thing there is: a line of its own only for debugging.
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
 * The one form in which routes see an address: without leading `/api` and `/preview` segments and without a trailing
 * slash (interface 2.1), the query string untouched.
 */
export function normalisePath(url: string): string {
  const [, path = '/', query = ''] = ADDRESS.exec(url) ?? []
  if (url.startsWith('/')) return path + query
  return URL.canParse(url) ? normalisePath(withoutOrigin(url)) : url
}

const ADDRESS = /^(?:\/(?:api|preview)(?![^/?]))*(\/[^?]*?)?\/?(\?.*)?$/s

/** RFC 9112 3.2.2: a server must take the absolute form that clients send to proxies. */
function withoutOrigin(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/**
 * What the log says of a request whose answer has left or whose client has gone: id, method, path without the query string, status,
 * milliseconds, bytes of the answer, id of the key. Never a header or a body.
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

/** Seconds: a retrieve takes parts of a millisecond, an invocation may take minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/**
 * Times every request, from its headers to the end of its answer or the leaving of its client, by method, route and class of status.
 * A route is its pattern and never the path that was asked for, so that nobody can make up more of them; `none` is what was
 * refused before a route was found.
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
