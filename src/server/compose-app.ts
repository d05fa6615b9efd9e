import type { Authenticate } from '../access/authenticator.ts'
import type { Intents } from '../access/intents.ts'
import type { Store } from '../git/store.ts'
import { workerPool } from '../handlers/worker/long-jobs.ts'
import type { OpenEvents } from '../events/open-events.ts'
import { createApp } from '../http/app.ts'
import { jsonBodyReader } from '../http/body/json-body.ts'
import type { Spools } from '../http/body/spool.ts'
import { uploadReader } from '../http/body/upload.ts'
import { gitSmartHttp } from '../http/git/git-smart-http.ts'
import { restoreBundle } from '../http/git/restore-bundle.ts'
import { metricsRoute } from '../http/metrics/metrics-route.ts'
import { observeRequests } from '../http/metrics/observe-requests.ts'
import { letIn } from '../http/middleware/authenticate.ts'
import { limitRequests } from '../http/middleware/limit-requests.ts'
import { openApiDocument } from '../http/openapi/openapi.ts'
import { createRouter } from '../http/routing/router.ts'
import type { RunningServer, ServerOptions } from '../http/server/server.ts'
import { Semaphore } from '../scheduling/semaphore.ts'
import type { Access } from './compose-access.ts'
import type { Routes } from './compose-endpoints.ts'
import type { Projects } from './compose-projects.ts'
import { processMetrics, serviceMetrics } from './metrics.ts'
import type { StartOptions } from './started-service.ts'
import type { WorkflowRuntime } from './workflow-runtime.ts'

/** Names, descriptions, tags and meta of what a file becomes; what is larger wants a JSON body. */
const UPLOAD_FIELD_BYTES = 1024 * 1024

/** A key or a token, and whatever stands around it. */
const KEYLESS_BODY_BYTES = 4096

/** What the app stands on. */
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
  /** The folder of bodies that are too large for memory. */
  readonly uploads: string
}

/** What answers every request. */
export function composeApp(parts: AppParts): ServerOptions['handle'] {
  const { options, store, server, projects, routes, access, events } = parts
  const { config, log } = options
  const { guard } = store
  const { callerOf } = access.keys
  // A project alone never has the last permit: its clients may read what they asked for as slowly as they like.
  const gitPermits = new Semaphore(config.gitMaxRequests, Math.max(1, config.gitMaxRequests - 1))
  const metrics = metricsOf(parts, gitPermits)
  const app = createApp({
    log: log.logger,
    detailsOf422: config.compat === 'existing' ? 'list' : 'sentence',
    observe: observeRequests(metrics),
    limit: limitRequests(() => server.inFlight - events.followers, config.maxRequests),
    authenticate: callerOf,
    door: access.door,
    metrics: metricsRoute(
      [metrics, processMetrics()],
      config.metrics === 'open' ? undefined : (ctx) => letIn(ctx, callerOf, access.door),
    ),
    storeProblem: () => guard.problem,
    fresh: () => store.fresh(),
    readiness: () => ({
      ...projects.registries.readiness(),
      traces: projects.traces.problems(),
      storeProblem: guard.problem?.message,
    }),
    openApi: () => openApiDocument(routes().endpoints, routes().contexts),
    ...composeGit(parts, callerOf, gitPermits),
    paths: () => routes().endpoints.map(({ path }) => path),
    route: composeRouter(parts),
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

/** Clone, fetch and push, and bundles that become repositories. */
function composeGit(
  { options: { config }, store: { fs }, projects, spools, uploads }: AppParts,
  authenticate: Authenticate,
  permits: Semaphore,
) {
  const shared = { authenticate, registryOf: (project: string) => projects.registries.of(project), spools }
  const { pushMaxBytes: maxBytes, pushMaxBlobBytes: maxBlobBytes } = config
  return {
    restore: restoreBundle({ ...shared, fs, folder: uploads, maxBytes, limits: { maxBlobBytes } }),
    git: gitSmartHttp({ ...shared, permits, push: { maxBytes, maxBlobBytes } }),
  }
}

function composeRouter({ options: { config }, projects, routes, intents, spools }: AppParts) {
  const { maxBodyBytes: maxBytes, maxBodiesBytes: maxHeldBytes } = config
  const most = { maxDepth: config.maxBodyDepth, maxValues: config.maxBodyValues }
  return createRouter({
    endpoints: () => routes().endpoints,
    readJsonBody: jsonBodyReader({ ...most, maxBytes, maxHeldBytes }),
    readKeylessBody: jsonBodyReader({ ...most, maxBytes: KEYLESS_BODY_BYTES, maxHeldBytes }),
    readUpload: uploadReader({ spools, maxBytes: config.uploadMaxBytes, maxFieldBytes: UPLOAD_FIELD_BYTES }),
    onUnknown: config.compat === 'existing' ? 'ignore' : 'refuse',
    registryOf: (project) => projects.registries.of(project),
    intents,
  })
}
