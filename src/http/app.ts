import Koa, { type Middleware } from 'koa'
import type { Logger } from 'pino'
import type { Authenticate } from '../access/authenticator.ts'
import type { Refusal } from '../errors.ts'
import { authenticate, callerIfAny } from './middleware/authenticate.ts'
import { type HowFresh, lookFirst } from './middleware/look-first.ts'
import { leaveTogether } from './middleware/leave-together.ts'
import { type ErrorForm, errorHandler } from './middleware/error-handler.ts'
import { notFound } from './middleware/not-found.ts'
import { requestId } from './middleware/request-id.ts'
import { requestLog } from './middleware/request-log.ts'
import { viewer } from './docs/viewer.ts'
import { immutableResponse } from './public-routes/lasting-answer.ts'
import { health, type Readiness, ready, servicesHealth } from './public-routes/health.ts'
import { type PublicRoute, publicRoutes } from './public-routes/public-routes.ts'
import { noIcon, serviceRecord } from './public-routes/service-record.ts'
import type { RequestState } from './request-state.ts'
import { nodeFs } from '../storage/node-fs.ts'
import type { SessionDoor } from './sessions/session-door.ts'
import { PageFiles } from './workbench/page-files.ts'
import { BUILT_PAGE, workbench } from './workbench/workbench.ts'

export interface AppDependencies {
  /** Whether the `detail` of a 422 is a sentence, or the list of its problems, as clients of the existing service read it. */
  readonly detailsOf422?: ErrorForm
  readonly log: Logger
  /** Counts and times every request. */
  readonly observe: Middleware<RequestState>
  /** Lets in what the server can take; what needs no key is answered in any case. */
  readonly limit: Middleware<RequestState>
  /** Resolves once what was acknowledged before can be read; refuses while the store is not there. What comes in together shares a look. */
  readonly fresh: () => Promise<HowFresh | undefined>
  /** Why the store cannot be used, looked at afresh; undefined if it can. */
  readonly storeProblem: () => Refusal | undefined
  readonly authenticate: Authenticate
  /** Lets browsers in. */
  readonly door: SessionDoor
  readonly readiness: () => Readiness
  /** `GET /metrics`. */
  readonly metrics: PublicRoute
  /** The OpenAPI 3.1 document of everything `route` answers. */
  readonly openApi: () => Promise<object>
  /** git over HTTP, which asks for keys in its own way. */
  readonly git: Middleware<RequestState>
  /** Brings whole repositories back, below the addresses of git. */
  readonly restore: Middleware<RequestState>
  /** The folder of the built page; the one beside this program unless given. */
  readonly pageFolder?: string
  /** The paths that `route` answers; asked once, for the first address that may be none. */
  readonly paths: () => readonly string[]
  /** Everything else that needs a key. Calls `next` for what it does not know, leaving `ctx.matched` as @koa/router does. */
  readonly route: Middleware<RequestState>
}

/** The app: a request goes through this chain, in this order. */
export function createApp(dependencies: AppDependencies): Koa<RequestState> {
  const { log, fresh, storeProblem, pageFolder = BUILT_PAGE } = dependencies
  const app = new Koa<RequestState>()
  // An answer that cannot be written, or whose connection broke.
  app.on('error', (error: unknown) => log.warn({ err: error }, 'an answer could not be sent'))
  app.use(leaveTogether)
  app.use(errorHandler({ log, storeProblem, form: dependencies.detailsOf422 }))
  app.use(requestId)
  app.use(requestLog(log))
  app.use(dependencies.observe)
  const addresses = publicAddresses(dependencies)
  app.use(workbench(new PageFiles(nodeFs, pageFolder), beginsRoute(dependencies.paths, addresses)))
  app.use(publicRoutes(addresses))
  app.use(dependencies.limit)
  app.use(lookFirst(fresh))
  app.use(dependencies.restore)
  app.use(dependencies.git)
  app.use(authenticate(dependencies.authenticate, dependencies.door))
  app.use(dependencies.route)
  app.use(notFound)
  return app
}

/** Addresses of middleware that is no route: git, and what stands before an address and is taken off. */
const OTHERS = ['/git', '/api', '/preview']

/** Whether a first segment begins an address that something answers. */
function beginsRoute(
  paths: () => readonly string[],
  addresses: Readonly<Record<string, PublicRoute>>,
): (segment: string) => boolean {
  let segments: ReadonlySet<string | undefined> | undefined
  return (segment) => {
    segments ??= new Set([...paths(), ...Object.keys(addresses), ...OTHERS].map((path) => path.split('/')[1]))
    return segments.has(segment)
  }
}

/** What is answered without a key, or asks for one itself, by its path. */
export function publicAddresses({
  readiness,
  authenticate: callerOf,
  door,
  metrics,
  openApi,
}: Pick<AppDependencies, 'readiness' | 'authenticate' | 'door' | 'metrics' | 'openApi'>): Readonly<
  Record<string, PublicRoute>
> {
  return {
    '/health': health,
    '/ready': ready(readiness, (ctx) => callerIfAny(ctx, callerOf, door)),
    '/metrics': metrics,
    '/openapi.json': immutableResponse('application/json', async () => JSON.stringify(await openApi())), // a start has no time for it
    ...viewer(),
    '/': serviceRecord(),
    '/favicon.ico': noIcon,
    ...servicesHealth(),
  }
}
