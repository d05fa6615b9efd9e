import Koa, { type Middleware } from 'koa'
import type { Logger } from 'pino'
import type { Authenticate } from '../access/authenticator.ts'
import { answerErrors } from './answer-errors.ts'
import { authenticate } from './authenticate.ts'
import { docs, openApiDocument } from './docs.ts'
import { type Readiness, health, ready, servicesHealth } from './health.ts'
import { identify } from './identify.ts'
import { type OpenRoute, openRoutes } from './open-routes.ts'
import { refuseUnrouted } from './refuse-unrouted.ts'
import { requestLog } from './request-log.ts'
import type { DoorState, RequestState } from './request-state.ts'

export interface AppDependencies {
  readonly log: Logger
  /** Sees every request, to count and time it. */
  readonly observe: Middleware<DoorState>
  /** Lets in what the server can take; what needs no key is answered in any case. */
  readonly admit: Middleware<DoorState>
  readonly authenticate: Authenticate
  readonly readiness: () => Readiness
  /** `GET /metrics`. */
  readonly metrics: OpenRoute
  /** The OpenAPI 3.1 document of everything `route` answers. */
  readonly openApi: () => object
  /** git over HTTP, which asks for keys in its own way; hands every other path on. */
  readonly git: Middleware<DoorState>
  /** Everything else that needs a key. Calls `next` for what it does not know, leaving `ctx.matched` as @koa/router does. */
  readonly route: Middleware<RequestState>
}

/** The door, in the order a request goes through it. */
export function createApp({
  log,
  observe,
  admit,
  authenticate: callerOf,
  readiness,
  metrics,
  openApi,
  git,
  route,
}: AppDependencies): Koa<DoorState> {
  const app = new Koa<DoorState>()
  app.on('error', (error: unknown) => log.warn({ err: error }, 'an answer could not be sent'))
  app.use(identify)
  app.use(observe)
  app.use(requestLog(log))
  app.use(answerErrors(log))
  app.use(
    openRoutes({
      '/health': health,
      '/ready': ready(readiness, callerOf),
      '/metrics': metrics,
      '/openapi.json': openApiDocument(openApi),
      '/docs': docs(openApi),
      ...servicesHealth(),
    }),
  )
  app.use(admit)
  app.use(git)
  app.use(authenticate(callerOf))
  app.use(route as Middleware<DoorState>) // the line above has set the caller
  app.use(refuseUnrouted)
  return app
}
