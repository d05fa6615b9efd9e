import type { Middleware, ParameterizedContext } from 'koa'
import Koa from 'koa'
import type { Logger } from 'pino'
import type { Authenticate } from '../access/authenticator.ts'
import type { Refusal } from '../errors.ts'
import { authenticate } from './middleware/authenticate.ts'
import type { ErrorForm } from './middleware/error-handler.ts'
import { errorResponse } from './middleware/error-handler.ts'
import { notFound } from './middleware/not-found.ts'
import { doorHeaders, requestId } from './middleware/request-id.ts'
import { requestLog } from './middleware/request-log.ts'
import { respond } from './middleware/respond.ts'
import { docs, openApiRoute } from './public-routes/docs.ts'
import { frontPage, noIcon } from './public-routes/front-page.ts'
import type { Readiness } from './public-routes/health.ts'
import { health, ready, servicesHealth } from './public-routes/health.ts'
import type { PublicRoute } from './public-routes/public-routes.ts'
import { publicRoutes } from './public-routes/public-routes.ts'
import type { Door, DoorState, RequestState, Watcher } from './request-state.ts'
import type { ServerOptions } from './server/server.ts'

export interface AppDependencies {
  /** Whether the `detail` of a 422 is a sentence, or the list of its problems, as clients of the existing service read it. */
  readonly detailsOf422?: ErrorForm
  readonly log: Logger
  /** Sees every request, to count and time it. */
  readonly observe: Watcher
  /** Lets in what the server can take; what needs no key is answered in any case. */
  readonly admit: () => void
  /** Refuses while the store is not there. What comes in together shares a look. */
  readonly assertStore: () => void
  /** Why the store cannot be used, looked at afresh; undefined if it can. */
  readonly storeProblem: () => Refusal | undefined
  readonly authenticate: Authenticate
  readonly readiness: () => Readiness
  /** `GET /metrics`. */
  readonly metrics: PublicRoute
  /** The OpenAPI 3.1 document of everything `route` answers. */
  readonly openApi: () => object
  /** git over HTTP, which asks for keys in its own way. */
  readonly git: Door
  /** Everything else that needs a key. Calls `next` for what it does not know, leaving `ctx.matched` as @koa/router does. */
  readonly route: Middleware<RequestState>
}

/**
 * The door, as a request goes through it. One function and not a middleware a step: each costs half a microsecond and a promise, and
 * a retrieve takes thirty. Koa makes the contexts; its own way with a request listens for the end of each answer in three places,
 * which costs three more.
 */
export function createApp({
  log,
  detailsOf422,
  observe,
  admit,
  assertStore,
  storeProblem,
  authenticate: callerOf,
  readiness,
  metrics,
  openApi,
  git,
  route,
}: AppDependencies): ServerOptions['handle'] {
  const watchers = [observe, requestLog(log), unsentLog(log)]
  const letIn = authenticate(callerOf)
  const open = publicRoutes({
    '/health': health,
    '/ready': ready(readiness, callerOf),
    '/metrics': metrics,
    '/openapi.json': openApiRoute(openApi),
    '/docs': docs(openApi),
    '/': frontPage(),
    '/favicon.ico': noIcon,
    ...servicesHealth(),
  })
  const koa = new Koa<DoorState>()
  koa.on('error', (error: unknown) => log.warn({ err: error }, UNSENT))
  return async (request, response) => {
    response.statusCode = 404 // until something answers
    const ctx = koa.createContext<DoorState>(request, response)
    watch(ctx, watchers)
    try {
      requestId(ctx)
      await answer(ctx)
    } catch (error) {
      // Where the store has gone meanwhile, nothing else that was found wrong is true.
      errorResponse(ctx, storeProblem() ?? error, log, detailsOf422)
    }
    if (response.headersSent) return
    try {
      setHeaders(ctx)
      respond(ctx)
    } catch (error) {
      ctx.onerror(error as Error) // a client must not wait for what cannot be written; Koa takes whatever was thrown
    }
  }

  function answer(ctx: ParameterizedContext<DoorState>): unknown {
    const openRoute = open(ctx)
    if (openRoute) return openRoute
    admit()
    assertStore()
    const fetched = git(ctx)
    if (fetched) return fetched
    letIn(ctx)
    return route(ctx as Parameters<typeof route>[0], () => notFound(ctx)) // the line above has set the caller
  }
}

const UNSENT = 'an answer could not be sent'

/** Tells of connections that broke while they were waiting for an answer; what else keeps one from being sent, Koa tells. */
function unsentLog(log: Logger): Watcher {
  return ({ req, res }) => {
    const { errored } = req.socket
    // One of those that waited for their turn has no socket yet: a client that sends many would fill the log.
    if (errored && res.socket) log.warn({ err: errored }, UNSENT)
  }
}

function watch(ctx: ParameterizedContext<DoorState>, watchers: readonly Watcher[]): void {
  const start = performance.now()
  // It comes once, and `once` would make a function more.
  ctx.res.on('close', () => {
    const ms = performance.now() - start
    for (const watcher of watchers) watcher(ctx, ms)
  })
}

function setHeaders({ res, state }: ParameterizedContext<DoorState>): void {
  const headers = doorHeaders(state.requestId, res)
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
}
