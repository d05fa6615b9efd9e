import type { Authenticate, Caller, Intents } from '../access/keys.ts'
import type { Config } from '../config.ts'
import type { Store } from '../git/store.ts'
import { workerPool } from '../run/handlers.ts'
import type { OpenEvents } from '../http/events.ts'
import { createApp } from '../http/app.ts'
import {
  jsonBodyReader,
  type ReadJsonBody,
  type Spools,
  uploadReader,
  createRouter,
} from '../http/routing.ts'
import { gitSmartHttp, restoreBundle } from '../http/git.ts'
import { metricsRoute, type Readiness } from '../http/public-routes.ts'
import { letIn, observeRequests } from '../http/request.ts'
import { openApiDocument } from '../http/endpoints.ts'
import type { Handle, RunningServer } from '../http/server.ts'
import type { Semaphore } from '../base/scheduling.ts'
import type { Access } from './compose-access.ts'
import type { Routes } from './compose-endpoints.ts'
import type { Projects } from './compose-projects.ts'
import type { StartOptions } from './started-service.ts'
import type { WorkflowRuntime } from './workflow-runtime.ts'
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { counts } from '../base/counters.ts'

/** Maximum bytes of an upload's form fields (names, descriptions, tags and meta); larger ones need a JSON body. */
const UPLOAD_FIELD_BYTES = 1024 * 1024

/** A key or a token, and the JSON around it. */
const KEYLESS_BODY_BYTES = 4096

/** The dependencies of the app. */
export interface AppParts {
  readonly options: StartOptions
  readonly store: Store
  readonly server: RunningServer
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly routes: () => Routes
  readonly intents: Intents
  readonly access: Access
  readonly events: OpenEvents
  readonly spools: Spools
  /** For clones, fetches, pushes and backups. */
  readonly gitPermits: Semaphore
  /** The folder of bodies that are too large for memory. */
  readonly uploads: string
}

/** Composes the function that answers every request. */
export function composeApp(parts: AppParts): Handle {
  const { options, store, server, projects, routes, access, events, gitPermits } = parts
  const { config, log } = options
  const { guard } = store
  const { callerOf } = access.keys
  const metrics = metricsOf(parts, gitPermits)
  const readBody = bodyReader(config)
  const app = createApp({
    log: log.logger,
    detailsOf422: config.compat === 'existing' ? 'list' : 'sentence',
    observe: observeRequests(metrics),
    load: { server, events, most: config.maxRequests },
    authenticate: callerOf,
    door: access.door,
    metrics: metricsRoute(
      [metrics, processMetrics()],
      config.metrics === 'open' ? undefined : (ctx) => letIn(ctx, callerOf, access.door),
    ),
    storeProblem: () => guard.problem,
    store,
    readiness: () => ({
      ...projects.registries.readiness(),
      traces: projects.traces.problems(),
      storeProblem: guard.problem?.message,
    }),
    openApi: () => openApiDocument(routes().endpoints, routes().contexts),
    ...composeGit(parts, callerOf),
    paths: () => routes().endpoints.map(({ path }) => path),
    readJsonBody: readBody,
    route: composeRouter(parts, readBody),
  })
  return app.callback()
}

function metricsOf({ projects, server, runtime, events }: AppParts, git: Semaphore) {
  return serviceMetrics({
    readiness: () => projects.registries.readiness(),
    server,
    git,
    webhooks: projects.webhooks,
    traces: projects.traces,
    sandbox: runtime.sandbox,
    longJobs: workerPool,
    evaluations: runtime.evaluationPermits,
    events,
  })
}

/** Clones, fetches and pushes, and bundles that become repositories. */
function composeGit(
  { options: { config }, store: { fs }, projects, spools, uploads, gitPermits: permits }: AppParts,
  authenticate: Authenticate,
) {
  const shared = { authenticate, registryOf: (caller: Caller) => projects.registries.seenBy(caller), spools }
  const { pushMaxBytes: maxBytes, pushMaxBlobBytes: maxBlobBytes } = config
  return {
    restore: restoreBundle({ ...shared, fs, folder: uploads, maxBytes, limits: { maxBlobBytes } }),
    git: gitSmartHttp({ ...shared, permits, push: { maxBytes, maxBlobBytes } }),
  }
}

/** A reader of bodies of at most `maxBytes`. */
function bodyReader(config: Config, maxBytes = config.maxBodyBytes): ReadJsonBody {
  const { maxBodiesBytes: maxHeldBytes, maxBodyDepth: maxDepth, maxBodyValues: maxValues } = config
  return jsonBodyReader({ maxDepth, maxValues, maxBytes, maxHeldBytes })
}

function composeRouter(
  { options: { config }, projects, routes, intents, spools }: AppParts,
  readJsonBody: ReadJsonBody,
) {
  return createRouter({
    endpoints: () => routes().endpoints,
    readJsonBody,
    readKeylessBody: bodyReader(config, KEYLESS_BODY_BYTES),
    readUpload: uploadReader({ spools, maxBytes: config.uploadMaxBytes, maxFieldBytes: UPLOAD_FIELD_BYTES }),
    onUnknown: config.compat === 'existing' ? 'ignore' : 'refuse',
    isExisting: config.compat === 'existing',
    registries: projects.registries,
    intents,
  })
}

/** The sources of a service's metrics, besides the process's counters. */
interface MetricSources {
  readonly readiness: () => Readiness
  readonly server: { readonly answering: { readonly size: number }; readonly refused: number }
  readonly git: Busy
  readonly webhooks: { readonly waiting: number }
  readonly traces: { readonly load: { readonly waiting: number; readonly dropped: number } }
  readonly sandbox: Busy
  readonly longJobs: Busy
  readonly evaluations: Busy
  readonly events: { readonly followers: number }
}

interface Busy {
  readonly load: { readonly running: number; readonly waiting: number }
}

/** The registry of a service's own metrics. They are read only when requested, so they cost nothing otherwise. */
function serviceMetrics({
  readiness,
  server,
  git,
  webhooks,
  traces,
  sandbox,
  longJobs,
  evaluations,
  events,
}: MetricSources): Registry {
  const registry = new Registry()
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({ ...named(name, help, registry), collect: setTo(value) })
  }
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({ ...named(`${name}_total`, help, registry), collect: risenTo(value) })
  }
  gauge('artifacts', 'Artifacts that are served.', () => readiness().artifacts)
  gauge('damaged_repositories', 'Repositories that are not served.', () => readiness().problems.length)
  gauge('http_requests_in_flight', 'Requests that are being worked on.', () => server.answering.size)
  counter('http_connections_refused', 'Connections past MAX_CONNECTIONS.', () => server.refused)
  counter(
    'commits',
    'Commits of this process on the disk, of revisions and of records.',
    () => counts.commits,
  )
  counter('pushes', 'Pushes that were taken in, each ref with its own outcome.', () => counts.pushes)
  counter('writes', 'Writes to repositories.', () => counts.writes)
  counter('write_rounds', 'Rounds in which writes reached the disk together.', () => counts.writeRounds)
  gauge('writes_waiting', 'Writes behind others of the same repository.', () => counts.waitingWrites)
  counter('upkeep_rounds', 'Rounds of upkeep through all repositories.', () => counts.upkeepRounds)
  counter('upkeep_repositories', 'Repositories that upkeep tidied up.', () => counts.tidied)
  gauge('git_requests_running', 'Clones, fetches and pushes at work.', () => git.load.running)
  gauge('git_requests_waiting', 'Clones, fetches and pushes that wait.', () => git.load.waiting)
  gauge('webhook_deliveries_waiting', 'Deliveries that are not over.', () => webhooks.waiting)
  gauge('trace_spans_waiting', 'Spans that are not stored yet.', () => traces.load.waiting)
  counter('trace_spans_dropped', 'Spans that were lost.', () => traces.load.dropped)
  gauge('scripts_running', 'Scripts that run in the sandbox.', () => sandbox.load.running)
  gauge('scripts_waiting', 'Scripts that wait for the sandbox.', () => sandbox.load.waiting)
  gauge('long_jobs_running', 'Long searches, comparisons and checks at work.', () => longJobs.load.running)
  gauge('long_jobs_waiting', 'Those that wait for a thread of their own.', () => longJobs.load.waiting)
  gauge('event_followers', 'Clients that are told what happens.', () => events.followers)
  gauge('evaluations_running', 'Evaluations that run.', () => evaluations.load.running)
  new Counter({
    ...named('cache_lookups_total', 'What was asked of caches, and whether they had it.', registry),
    labelNames: ['cache', 'result'],
    collect() {
      this.reset()
      for (const [cache, { hits, misses }] of Object.entries(counts.lookups)) {
        this.inc({ cache, result: 'hit' }, hits)
        this.inc({ cache, result: 'miss' }, misses)
      }
    },
  })
  return registry
}

function named(name: string, help: string, registry: Registry) {
  return { name: `branchpoint_${name}`, help, registers: [registry] }
}

function setTo(value: () => number) {
  return function (this: Gauge): void {
    this.set(value())
  }
}

function risenTo(value: () => number) {
  return function (this: Counter): void {
    this.reset()
    this.inc(value())
  }
}

let registry: Registry | undefined

/**
 * Processor time, memory, file handles, garbage collection and event-loop lag under the names of prom-client, which dashboards for node
 * know. One for the process, however many services it has, because a permanent timer measures the lag.
 */
function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
