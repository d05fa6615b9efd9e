import { createAuthenticator } from '../access/authenticator.ts'
import { Intents } from '../access/intents.ts'
import { KeyUses } from '../access/key-uses.ts'
import type { Config } from '../config.ts'
import { startUpkeep } from '../git/maintenance/schedule.ts'
import { Store, storeRepositories } from '../git/store.ts'
import { longJobs } from '../handlers/worker/long-jobs.ts'
import { createApp } from '../http/app.ts'
import { jsonBodyReader } from '../http/body/json-body.ts'
import { Spools, sweepUploads } from '../http/body/spool.ts'
import { uploadReader } from '../http/body/upload.ts'
import { allEndpoints } from '../http/endpoints/all-endpoints.ts'
import { deliveryEndpoints } from '../http/endpoints/delivery-endpoints.ts'
import { evaluationEndpoints } from '../http/endpoints/evaluation-endpoints.ts'
import { invocationEndpoints } from '../http/endpoints/invocation-endpoints.ts'
import { keyEndpoints } from '../http/endpoints/key-endpoints.ts'
import { removalEndpoints } from '../http/endpoints/removal/removal-endpoints.ts'
import { secretEndpoints } from '../http/endpoints/secret-endpoints.ts'
import { foundTraces } from '../http/endpoints/traces/include-traces.ts'
import { traceEndpoints } from '../http/endpoints/traces/trace-endpoints.ts'
import { webhookEndpoints } from '../http/endpoints/webhook-endpoints.ts'
import { gitDoor } from '../http/git/git-smart-http.ts'
import { Places } from '../http/git/places.ts'
import { restoreDoor } from '../http/git/restore-bundle.ts'
import { metricsRoute } from '../http/metrics/metrics-route.ts'
import { observeRequests } from '../http/metrics/observe-requests.ts'
import { admit } from '../http/middleware/limit-requests.ts'
import { openApiDocument } from '../http/openapi/openapi.ts'
import type { Endpoint } from '../http/routing/endpoint.ts'
import { asExistingService } from '../http/routing/existing-service.ts'
import { helping } from '../http/routing/helping.ts'
import { preferring } from '../http/routing/prefer.ts'
import { createRouter } from '../http/routing/router.ts'
import { withholding } from '../http/routing/withhold.ts'
import type { Log } from '../http/server/logger.ts'
import type { RunningServer, ServerOptions } from '../http/server/server.ts'
import { startServer } from '../http/server/server.ts'
import { Steps } from '../http/server/steps.ts'
import { surfaceContext } from '../http/surface-context.ts'
import { resolveHost } from '../outgoing/outgoing-policy.ts'
import { seedEnvironments } from '../resources/environments/seed-environments.ts'
import { queryFamily } from '../resources/queries/query-family.ts'
import { surfacesOf } from '../resources/surfaces.ts'
import type { Fs } from '../storage/fs.ts'
import { beginTurn } from '../storage/read-epoch.ts'
import type { OtlpExporter } from '../traces/export/otlp-exporter.ts'
import { OpenTraces } from '../traces/open-traces.ts'
import type { ProjectTraces } from '../traces/project-traces.ts'
import type { RepositoryProblem } from '../versioning/index/unserved-repositories.ts'
import { Registries } from '../versioning/registries.ts'
import type { Registry, Signing } from '../versioning/registry.ts'
import { OpenWebhooks } from '../webhooks/open-webhooks.ts'
import type { ProjectWebhooks } from '../webhooks/project-webhooks.ts'
import { processMetrics, serviceMetrics } from './metrics.ts'
import { resourceSettings } from './resource-settings.ts'
import { openRuntime } from './workflow-runtime.ts'

/** What a service is about. */
export interface Served {
  readonly store: Store
  readonly signing: Signing
}

/** Names, descriptions, tags and meta of what a file becomes; what is larger wants a JSON body. */
const UPLOAD_FIELD_BYTES = 1024 * 1024

/**
 * Listens over an open store, and resolves once it is read in; until then /ready says so and requests wait. Rejects with one plain
 * sentence when the address cannot be had. This file brings most of the program.
 */
export async function serve(
  { config, log, now }: StartOptions,
  { store, signing }: Served,
): Promise<Omit<StartedService, 'firstToken'>> {
  const { storeDir, adminKey } = config
  const { fs, guard } = store
  guard.watch((problem) =>
    problem ? log.logger.error(problem.message) : log.logger.info('the store is back, and is served again'),
  )
  const uploads = `${storeDir}/.uploads`
  sweepUploads(fs, uploads)
  const spools = new Spools(fs, uploads, config.uploadsMaxBytes)
  const exporter = await openExporter(config, log)
  let handle: ServerOptions['handle']
  const server = await startServer({
    host: config.host,
    port: config.port,
    maxConnections: config.maxConnections,
    handle: (request, response) => {
      beginTurn()
      return handle(request, response)
    },
  })
  // From here to the app nothing waits, so no request comes before it is set.
  const publicUrl = config.publicUrl ?? server.url
  const isExisting = config.compat === 'existing'
  const settings = {
    servicesBase: `${publicUrl}/services`,
    gitBase: `${publicUrl}/git`,
    versionType: config.versionType,
    authorType: isExisting ? ('uuid' as const) : ('text' as const),
    now,
    signing,
    limits: { maxBytes: config.maxBodyBytes, maxValues: config.maxBodyValues },
    onProblem: (project: string, { repository, reason }: RepositoryProblem) =>
      log.logger.warn({ project, repository, reason }, 'a repository cannot be served, or not all of it'),
  }
  const resources = resourceSettings(config)
  const surfaces = surfacesOf(resources)
  const families = [...new Set(surfaces.map((surface) => surface.family))]
  const webhooks = new OpenWebhooks(fs, {
    policy: { allowPrivate: config.webhookAllowPrivate, resolve: resolveHost },
    timeoutMs: config.webhookTimeoutMs,
    retrySeconds: config.webhookRetrySeconds,
    now,
    onTrouble: (error) =>
      log.logger.error({ err: error }, 'an event could not be told or sent; it will be tried again'),
  })
  const traces = new OpenTraces({
    isRecording: config.traces === 'on',
    retention: { maxAgeDays: config.tracesMaxAgeDays, maxBytes: config.tracesMaxBytes },
    queryMs: config.tracesQueryTimeoutMs,
    assertThere: () => guard.assertThere(),
    now,
    onTrouble: ({ file, message }) => log.logger.error({ file }, message),
  })
  const registries = new Registries(store, families, settings, async (registry) => {
    await seedEnvironments(registry)
    webhooks.open(registry)
    traces.of(registry)
  })
  const tracesOf = (registry: Registry): ProjectTraces => traces.of(registry)
  const runtime = openRuntime({
    config,
    fs,
    tracesOf,
    onTrouble: (error, evaluation) =>
      log.logger.error({ err: error, evaluation }, 'an evaluation cannot go on'),
    record: (registry, spans) => {
      traces.of(registry).record(spans)
      exporter?.export(spans)
    },
  })
  const { evaluationsOf } = runtime
  const contexts = surfaces.map((surface) => ({
    ...surfaceContext(surface, surfaces, settings),
    ...(surface.family === queryFamily ? { enrichment: foundTraces(tracesOf) } : {}),
  }))
  const webhooksOf = (registry: Registry): ProjectWebhooks => webhooks.of(registry)
  const keyUses = new KeyUses(fs, storeDir, now)
  const endpoints = [
    ...allEndpoints(contexts, resources),
    ...webhookEndpoints(webhooksOf),
    ...deliveryEndpoints(webhooksOf),
    ...invocationEndpoints(runtime.services, { ...settings, answered: [] }),
    ...evaluationEndpoints(evaluationsOf, contexts),
    ...keyEndpoints({ fs, storeDir, uses: keyUses, hasAdminKey: adminKey !== undefined }),
    ...secretEndpoints(runtime.secretsOf),
    ...traceEndpoints(tracesOf),
    ...removalEndpoints(contexts, { tracesOf, evaluationsOf, webhooksOf }),
  ].map((it) => helping(asExistingService(withholding(preferring(it)), isExisting)))
  const intents = new Intents(
    fs,
    storeDir,
    now,
    (dead) => store.finishFor(dead),
    () => store.notes(),
  )
  const authenticate = createAuthenticator({
    fs,
    storeDir,
    adminToken: adminKey,
    onUse: ({ project, key }) => keyUses.note(project, key.id),
    onDamage: (error) => log.logger.error({ err: error }, 'a key file cannot be read; its keys are refused'),
  })
  const registryOf = (project: string) => registries.of(project)
  const places = new Places(config.gitMaxRequests)
  const metrics = serviceMetrics({
    readiness: () => registries.readiness(),
    server,
    places,
    webhooks,
    traces,
    sandbox: runtime.sandbox,
    longJobs,
    evaluations: runtime.evaluationPlaces,
  })
  handle = createApp({
    log: log.logger,
    detailsOf422: isExisting ? 'list' : 'sentence',
    observe: observeRequests(metrics),
    admit: admit(() => server.inFlight, config.maxRequests),
    authenticate,
    metrics: metricsRoute([metrics, processMetrics()], config.metrics === 'open' ? undefined : authenticate),
    storeProblem: () => guard.problem,
    assertStore: () => guard.assertThere(),
    readiness: () => ({
      ...registries.readiness(),
      traces: traces.problems(),
      storeProblem: guard.problem?.message,
    }),
    openApi: () => openApiDocument(endpoints, contexts),
    git: restoreDoor(
      {
        authenticate,
        registryOf,
        fs,
        folder: uploads,
        spools,
        maxBytes: config.pushMaxBytes,
        limits: { maxBlobBytes: config.pushMaxBlobBytes },
      },
      gitDoor({
        authenticate,
        registryOf,
        places,
        spools,
        push: { maxBytes: config.pushMaxBytes, maxBlobBytes: config.pushMaxBlobBytes },
      }),
    ),
    route: createRouter({
      endpoints,
      readJsonBody: jsonBodyReader({
        maxBytes: config.maxBodyBytes,
        maxHeldBytes: config.maxBodiesBytes,
        maxDepth: config.maxBodyDepth,
        maxValues: config.maxBodyValues,
      }),
      readUpload: uploadReader({
        spools,
        maxBytes: config.uploadMaxBytes,
        maxFieldBytes: UPLOAD_FIELD_BYTES,
      }),
      onUnknown: isExisting ? 'ignore' : 'refuse',
      registryOf,
      intents,
    }),
  })
  // A third is for what is in flight, and a moment for the end.
  const steps = new Steps(0.55 * config.stopMs)
  const closeAll = async (): Promise<readonly string[]> => {
    // Runs that are cut short leave traces, too.
    await steps.take('evaluations, scripts and their processes', () => runtime.close())
    await steps.take('when keys were used', () => keyUses.close())
    await steps.take('webhooks', () => webhooks.close())
    await steps.take('traces and their threads', () => Promise.all([traces.close(), exporter?.close()]))
    await steps.take('the projects', () => registries.close())
    await steps.take('the journal of the store', () => store.close())
    return steps.kept
  }
  try {
    await registries.start()
  } catch (error) {
    // Nobody should go on asking a server that will never be ready.
    await server.stop(0)
    await closeAll()
    throw error
  }
  const stopPurging = intents.keepPurged()
  const stopClosing = store.keepRemovedClosed()
  const stopFinishing = store.keepFinishing(() => registries.sweepLeftovers())
  const folders = families.map(({ folder }) => folder)
  const stopUpkeep =
    config.upkeep === 'on' ? startUpkeep(fs, () => storeRepositories(fs, storeDir, folders)) : undefined
  const close = async (): Promise<readonly string[]> => {
    stopPurging()
    stopClosing()
    await steps.take('what dead servers left', () => stopFinishing())
    await steps.take('upkeep and its git program', () => stopUpkeep?.())
    return closeAll()
  }
  const stop = async (graceMs: number): Promise<boolean> => {
    // An evaluation may take hours, and whoever waits for it would have the server wait, too.
    void runtime.interruptEvaluations()
    return server.stop(graceMs)
  }
  const running: RunningServer = {
    url: server.url,
    get inFlight() {
      return server.inFlight
    },
    get unfinished() {
      return server.unfinished
    },
    get refused() {
      return server.refused
    },
    stop,
  }
  return { server: running, traces, endpoints, close }
}

/** What sends spans to a collector, where one is configured: its packages take a tenth of a second to load. */
async function openExporter({ telemetry }: Config, { logger }: Log): Promise<OtlpExporter | undefined> {
  if (Object.keys(telemetry).length === 0) return undefined
  const { openOtlpExporter } = await import('../traces/export/otlp-exporter.ts')
  return openOtlpExporter(telemetry, (sentence) => logger.warn(sentence))
}

export interface StartOptions {
  readonly config: Config
  readonly fs: Fs
  readonly log: Log
  readonly now: () => Date
}

export interface StartedService {
  readonly server: RunningServer
  /** The key made because the store had none; shown once, here. */
  readonly firstToken: string | undefined
  /** The traces of every project. */
  readonly traces: OpenTraces
  /** Every route that needs a key. */
  readonly endpoints: readonly Endpoint[]
  /**
   * Stops looking after the store and settles it; call it once the server has stopped. Answers what did not end in its time, or could
   * not: what is durable is, and the next start finishes the rest.
   */
  close(): Promise<readonly string[]>
}
