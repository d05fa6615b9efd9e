import Koa from 'koa'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { Readable } from 'node:stream'
import type { Authenticate } from '../access/keys.ts'
import { Refusal, DatabaseAway } from '../errors.ts'
import { stringifyJson } from '../base/json.ts'
import { yieldToEventLoop } from '../base/scheduling.ts'
import { nodeFs } from '../storage/files.ts'
import { viewer } from './docs/viewer.ts'
import type { ReadJsonBody } from './body/json-body.ts'
import { MCP_ADDRESS, mcp } from './mcp/mcp-route.ts'
import { methodNotAllowed, notFound } from './routing/not-found.ts'
import { type Problem, internalProblem, problemOf } from './problem.ts'
import { health, type Readiness, ready, servicesHealth } from './public-routes/health.ts'
import { immutableResponse } from './public-routes/lasting-answer.ts'
import { noIcon, serviceRecord } from './public-routes/service-record.ts'
import {
  authenticate,
  BASIC,
  callerIfAny,
  isOfOthers,
  type Observe,
  type PublicRoute,
  type RequestContext,
  type RequestState,
  requests,
  type SessionDoor,
  takesBasic,
} from './request.ts'
import { PageFiles } from './workbench/page-files.ts'
import { BUILT_PAGE, workbench } from './workbench/workbench.ts'

export interface AppDependencies {
  /** Whether the `detail` of a 422 is a sentence, or the list of problems that clients of the existing service read. */
  readonly detailsOf422?: ErrorForm
  readonly log: Logger
  /** Counts and times every request. */
  readonly observe: Observe
  /** Requests without a key are answered even while the store is missing. */
  readonly load: Load
  /** Requests that come in together share one look at the store. */
  readonly store: Fresh
  /** Why the store cannot be used, checked now; undefined if it can be. */
  readonly storeProblem: () => Refusal | undefined
  readonly authenticate: Authenticate
  /** Lets browsers in. */
  readonly door: SessionDoor
  readonly readiness: () => Readiness
  /** `GET /metrics`. */
  readonly metrics: PublicRoute
  /** The OpenAPI 3.1 document of everything `route` answers. */
  readonly openApi: () => Promise<object>
  /** Git over HTTP, which asks for keys in its own way. */
  readonly git: Middleware<RequestState>
  /** Restores whole repositories, below the addresses of git. */
  readonly restore: Middleware<RequestState>
  /** The folder of the built page; beside this program if it is missing. */
  readonly pageFolder?: string
  /** The paths that `route` answers; read once, for the first unknown address. */
  readonly paths: () => readonly string[]
  /** Answers everything else that needs a key. Calls `next` for unknown addresses, leaving `ctx.matched` as @koa/router does. */
  readonly route: Middleware<RequestState>
  /** Reads the bodies of requests to `/mcp`. */
  readonly readJsonBody: ReadJsonBody
}

/** The app. A request goes through these middlewares, in this order. */
export function createApp(dependencies: AppDependencies): Koa<RequestState> {
  const { log, storeProblem, pageFolder = BUILT_PAGE } = dependencies
  const app = new Koa<RequestState>()
  // An answer that could not be written, or whose connection broke. That a client leaves a stream is usual: browsers do with each page.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') log.warn({ err: error }, 'an answer could not be sent')
  })
  app.use(completed({ log, storeProblem, form: dependencies.detailsOf422 }))
  app.use(requests(log, dependencies.observe))
  const addresses = publicAddresses(dependencies)
  const page = workbench(new PageFiles(nodeFs, pageFolder), beginsRoute(dependencies.paths, addresses))
  app.use(withoutKey(page, addresses))
  app.use(admitted(dependencies))
  app.use(authenticate(dependencies.authenticate, dependencies.door))
  app.use(dependencies.route)
  app.use(mcp({ ...dependencies, handle: () => app.callback() }))
  app.use(notFound)
  return app
}

/** Addresses that no route has: those of git, of MCP, and of prefixes that are removed. */
const OTHERS = ['/git', MCP_ADDRESS, '/api', '/preview']

/** Whether an address with this first segment exists. */
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

/** The handlers of addresses that need no key, or ask for one themselves, by path. */
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
    '/openapi.json': immutableResponse('application/json', async () => JSON.stringify(await openApi())), // Read later, because a start has no time for it.
    ...viewer(),
    '/': serviceRecord(),
    '/favicon.ico': noIcon,
    ...servicesHealth(),
  }
}

/** Serves the page, and the few addresses that need no key (interface 2.3), by exact path. */
function withoutKey(
  page: Middleware<RequestState>,
  routes: Readonly<Record<string, PublicRoute>>,
): Middleware<RequestState> {
  const byPath = new Map(Object.entries(routes))
  return (ctx, next) => {
    const route = byPath.get(ctx.path)
    if (ctx.method === 'GET' || ctx.method === 'HEAD')
      return page(ctx, route ? () => answerPublic(ctx, route) : next)
    if (route) throw methodNotAllowed(ctx.method, ctx.path, ['GET', 'HEAD'])
    return next()
  }
}

async function answerPublic(ctx: RequestContext, route: PublicRoute): Promise<void> {
  ctx.state.route = ctx.path
  await route(ctx)
}

/** The number of requests in work, and its maximum. */
interface Load {
  readonly server: { readonly answering: { readonly size: number } }
  readonly events: { readonly followers: number }
  readonly most: number
}

/**
 * Lets a request in if fewer than `most` are being worked on; open event streams do not count. It refuses others at once, before a key is looked
 * up or a body is read. A request that is let in sees everything that any server acknowledged before it arrived, including the removal of keys.
 * Requests of git programs take another way from here, because git asks for keys in its own way.
 */
function admitted({
  load: { server, events, most },
  store,
  restore,
  git,
}: Pick<AppDependencies, 'load' | 'store' | 'restore' | 'git'>): Middleware<RequestState> {
  return async (ctx, next) => {
    const { size } = server.answering
    if (size > most && size - events.followers > most) throw overloaded(most)
    const how = await store.fresh()
    const proceed = ctx.path.startsWith('/git/') ? () => restore(ctx, () => git(ctx, next)) : next
    return how ? telling(ctx, how, proceed) : proceed()
  }
}

function overloaded(most: number): Refusal {
  return new Refusal(
    'overloaded',
    `The server works on ${most} requests already, the most that it takes at once. Try again in a moment.`,
  )
}

/** What requests read. */
interface Fresh {
  /** Resolves once everything that was acknowledged before can be read. Refuses if the store is missing. */
  fresh(): Promise<HowFresh | undefined>
}

/** How fresh the read data is: it has everything that any server acknowledged before a moment. */
interface HowFresh {
  /** The setting that guarantees this: a value of READS. */
  readonly by: string
  /** The moment, on the clock of `performance`, in milliseconds. */
  readonly since: number
}

/** Where servers share a database, the answer to a read says how fresh it is: `Svc-Freshness: quorum; age=<ms>` (interface 2.31). */
async function telling(
  ctx: RequestContext,
  { by, since }: HowFresh,
  next: () => Promise<unknown>,
): Promise<void> {
  try {
    await next()
  } finally {
    if (ctx.state.isRead && !ctx.headerSent)
      ctx.set('Svc-Freshness', `${by}; age=${Math.max(0, Math.round(performance.now() - since))}`)
  }
}

/** The parts that are needed to answer errors. */
interface ErrorHandling {
  readonly log: Logger
  /** Checks first whether the store is missing: then any other error is only a consequence. */
  readonly storeProblem: () => Refusal | undefined
  readonly form?: ErrorForm | undefined
}

/**
 * The only place where an error becomes an answer (interface 3.1, 3.11). A refusal is answered as it says, a failing disk as
 * `storage_unavailable`. Anything else is a bug: it is logged completely, and answered without details. Koa sends an answer after all requests
 * that came in together are worked on: an answer wakes its client, and on a busy machine the client then takes the core from the server in the
 * middle of the next request (4,100 retrieves a second in place of 7,000, with 32 clients on two cores). An answer whose client has gone is
 * destroyed here. Koa notices that by the answer's socket, but an answer that waits for others of its connection has no socket yet, and its stream
 * would be read for ever.
 */
export function completed(handling: ErrorHandling): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      respondWithError(ctx, handling.storeProblem() ?? error, handling)
    }
    const { body } = ctx
    // Reads the stream at once: Node drops the rest of a git program's output if nobody reads it before the program ends.
    if (!(body instanceof Readable)) await yieldToEventLoop()
    if (!ctx.res.destroyed) return
    if (body instanceof Readable) body.destroy()
    ctx.respond = false
  }
}

function respondWithError(ctx: RequestContext, error: unknown, { log, form }: ErrorHandling): void {
  const { requestId, challenge = takesBasic(ctx.path) ? BASIC : 'ApiKey', isTerminal, caller } = ctx.state
  const refusal =
    caller === undefined && error instanceof DatabaseAway
      ? error.withoutWhy()
      : error instanceof Refusal
        ? error
        : refusalOfDisk(error)
  const problem = refusal ? problemOf(refusal) : internalProblem(requestId)
  if (problem.status >= 500) log.error({ err: error, requestId }, problem.title)
  ctx.status = problem.status
  setHeaders(problem, challenge, (name, value) => ctx.set(name, value))
  ctx.body = isTerminal ? `${problem.detail}\n` : stringifyJson(inFormOf(ctx.path, problem, form))
  ctx.type = isTerminal ? 'text/plain' : 'application/problem+json'
}

/** The `detail` of a 422: a sentence, or the list of problems that clients of the existing service read (interface 2.30). */
type ErrorForm = 'sentence' | 'list'

/** Clients of other products read `message` and `error`, which they get beside the members of every problem (interface 16.6). */
function inFormOf(path: string, problem: Problem, form: ErrorForm | undefined): object {
  if (isOfOthers(path)) return { ...problem, message: problem.detail, error: problem.title }
  if (form !== 'list' || problem.status !== 422) return problem
  const { errors = [{ loc: ['body'], msg: problem.detail, type: problem.code }] } = problem
  return { ...problem, detail: errors }
}

/** Node's error codes for a disk that is full, broken, read-only or out of handles, with their meaning. */
const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'is full',
  EDQUOT: 'has no quota left',
  EROFS: 'is read-only',
  EACCES: 'denies access',
  EPERM: 'denies access',
  EIO: 'fails to read or write',
  EMFILE: 'has no file handles left',
  ENFILE: 'has no file handles left',
  ELOOP: 'has a symbolic link that leads round in a circle',
  ENXIO: 'has something in the place of a file',
  ENODEV: 'is gone',
  ESTALE: 'is not there any more as it was',
  EBADMSG: 'is damaged',
  EUCLEAN: 'is damaged',
}

function refusalOfDisk(error: unknown): Refusal | undefined {
  const { code = '', syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException> // anything may be thrown
  const meaning = DISK_ERRORS[code]
  if (meaning === undefined || syscall === undefined) return undefined
  return new Refusal(
    'storage_unavailable',
    `The disk under the store ${meaning} (${code}). What this request was to store may be there or not: look before you ` +
      `repeat it, or repeat it with the same Idempotency-Key, once the operator has seen to the disk.`,
  )
}

function setHeaders(problem: Problem, challenge: string, set: (name: string, value: string) => void): void {
  if (problem.status === 401) set('WWW-Authenticate', challenge)
  if (problem.status === 503 || problem.status === 429) set('Retry-After', '1')
  const allow = problem.details?.['allow']
  if (problem.status === 405 && Array.isArray(allow)) set('Allow', allow.join(', '))
}
