import { Intents, KeyUses } from '../access/keys.ts'
import { type Store, storeRepositories } from '../git/store.ts'
import { OpenEvents } from '../http/events.ts'
import { Spools, sweepUploads } from '../http/routing.ts'
import { type RunningServer, startServer, Steps } from '../http/server.ts'
import { workflowSurfaces } from '../run/handlers.ts'
import { surfacesOf, type Family } from '../registry/families.ts'
import type { SharedTraces } from '../feeds/traces.ts'
import type { Signing } from '../registry/registries.ts'
import { composeAccess } from './compose-access.ts'
import { composeApp } from './compose-app.ts'
import { composeEndpoints, type Routes } from './compose-endpoints.ts'
import { composeProjects, openExporter, registrySettings, type Projects } from './compose-projects.ts'
import { resourceSettings } from './resource-settings.ts'
import { watchFilling } from './watch-filling.ts'
import type { StartedService, StartOptions } from './started-service.ts'
import { openRuntime, type WorkflowRuntime } from './workflow-runtime.ts'
import { startMaintenance } from '../git/maintenance.ts'
import { documentsOf } from '../storage/files.ts'
import { Semaphore } from '../base/scheduling.ts'

/** The parts that a service serves. */
export interface Served {
  readonly store: Store
  readonly signing: Signing
  /** The shared storage of spans; absent: a file in each project's folder. */
  readonly sharedTraces?: SharedTraces | undefined
}

/**
 * Listens, and resolves once the open store is loaded; until then /ready says so and requests wait. Rejects with a plain sentence if the
 * address is unavailable. This file imports most of the program.
 */
export async function serve(
  options: StartOptions,
  served: Served,
): Promise<Omit<StartedService, 'firstToken'>> {
  const { store, signing } = served
  const { config, log, now } = options
  const { storeDir } = config
  const { fs } = store
  store.guard.watch((problem) =>
    problem ? log.logger.error(problem.message) : log.logger.info('the store is back, and is served again'),
  )
  const uploads = `${storeDir}/.uploads`
  sweepUploads(fs, uploads)
  const exporter = await openExporter(options)
  const { host, port, maxConnections } = config
  const server = await startServer({ host, port, maxConnections })
  // From here to the app nothing is awaited, so no request arrives before the app exists.
  const publicUrl = config.publicUrl ?? server.url
  const surfaces = surfacesOf(workflowSurfaces, resourceSettings(config))
  const families = [...new Set(surfaces.map((surface) => surface.family))]
  const settings = registrySettings(options, publicUrl, signing)
  const closing = new AbortController()
  const stands = { store, sharedTraces: served.sharedTraces, closing: closing.signal }
  const projects = composeProjects(options, stands, families, settings, exporter)
  const runtime = openRuntime({
    config,
    fs,
    // What was said of a row's trace was said of the result that is replaced.
    tracesOf: (registry) => {
      const traces = projects.tracesOf(registry)
      return {
        stored: () => traces.stored(),
        remove: async (id) => {
          await projects.annotationsOf(registry).forget(id, undefined)
          return traces.remove(id)
        },
      }
    },
    onTrouble: (error, evaluation) =>
      log.logger.error({ err: error, evaluation }, 'an evaluation cannot go on'),
    record: (registry, spans) => {
      projects.tracesOf(registry).record(spans)
      exporter?.export(spans)
    },
  })
  const keyUses = new KeyUses(fs, storeDir, now)
  const { shared } = store
  const intents = new Intents(fs, storeDir, now, shared?.finishFor, () => shared?.notes() ?? [])
  const access = composeAccess(options, store, keyUses)
  const events = new OpenEvents((registry) => runtime.evaluationsOf(registry), config.eventsAtOnce)
  const spools = new Spools(fs, uploads, config.uploadsMaxBytes)
  // One project never has all permits, because its clients may read their answers slowly.
  const gitPermits = new Semaphore(config.gitMaxRequests, Math.max(1, config.gitMaxRequests - 1))
  const composed = { options, store, families, projects, runtime, intents, keyUses, access, events }
  const parts = { ...composed, spools, gitPermits }
  let made: Routes | undefined
  // Built for the first request that needs them, because they take a fifth of a start.
  const routes = (): Routes => (made ??= composeEndpoints({ ...parts, fs, surfaces, publicUrl }))
  server.answerWith(composeApp({ ...parts, routes, server, uploads }))
  const { steps, closeAll } = closer(parts)
  try {
    await projects.registries.start()
    watchFilling({ ...projects, store, logger: log.logger, closing: closing.signal })
  } catch (error) {
    // Clients should not keep asking a server that will never be ready.
    await server.stop(0)
    await closeAll()
    throw error
  }
  const stopBackground = startBackground(parts, steps)
  return {
    server: interrupting(server, runtime, events),
    traces: projects.traces,
    endpoints: () => routes().endpoints,
    signInLink: () => access.signInLink(publicUrl),
    close: async () => {
      closing.abort()
      await stopBackground()
      return closeAll()
    },
  }
}

/**
 * A server whose stop first ends long work: evaluations that clients wait for, which may take hours, and connections that follow events.
 */
function interrupting(server: RunningServer, runtime: WorkflowRuntime, events: OpenEvents): RunningServer {
  return {
    url: server.url,
    answering: server.answering,
    get unfinished() {
      return server.unfinished
    },
    get refused() {
      return server.refused
    },
    answerWith: server.answerWith,
    stop: async (graceMs) => {
      events.close()
      // The same failure occurs when the service closes, which reports it.
      runtime.interruptEvaluations().catch(() => undefined)
      return server.stop(graceMs)
    },
  }
}

/** The parts that are closed with a service. */
interface ClosableParts {
  readonly options: StartOptions
  readonly store: Store
  readonly families: readonly Family[]
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly intents: Intents
  readonly keyUses: KeyUses
}

/** Closes a service in steps, each independent of the others; answers the steps that did not end in time. */
function closer({ options, store, projects, runtime, keyUses }: ClosableParts): {
  readonly steps: Steps
  readonly closeAll: () => Promise<readonly string[]>
} {
  // A third of the time is for running requests, and a moment for the end.
  const steps = new Steps(0.55 * options.config.stopMs)
  const closeAll = async (): Promise<readonly string[]> => {
    // Interrupted runs leave traces, too.
    await steps.take('evaluations, scripts and their processes', () => runtime.close())
    await steps.take('when keys were used', () => keyUses.close())
    await steps.take('webhooks', () => projects.webhooks.close())
    await steps.take('traces and their threads', () =>
      Promise.all([projects.traces.close(), projects.exporter?.close()]),
    )
    await steps.take('the search and its thread', () => projects.search.close())
    await steps.take('the projects', () => projects.registries.close())
    await steps.take('the journal of the store', () => store.close())
    return steps.kept
  }
  return { steps, closeAll }
}

/** Begins the background work of a served store; the answered function ends it. */
function startBackground(
  { options: { config, log }, store, families, projects, intents, runtime }: ClosableParts,
  steps: Steps,
): () => Promise<void> {
  const stopPurging = intents.keepPurged()
  const stopClosing = store.keepRemovedClosed()
  const stopFinishing = store.keepFinishing(() => projects.registries.sweepLeftovers())
  const onTrouble = (error: unknown): void =>
    log.logger.error(
      { err: error },
      'what another server was at could not be looked for; it will be tried again',
    )
  const stopTakingOver = keepTakingOver({ store, projects, runtime, onTrouble })
  const folders = families.map(({ folder }) => folder)
  const stopUpkeep =
    config.upkeep === 'on'
      ? startMaintenance(store.fs, () => storeRepositories(store.fs, config.storeDir, folders))
      : undefined
  return async () => {
    stopPurging()
    stopTakingOver()
    stopClosing()
    await steps.take('what dead servers left', () => stopFinishing())
    await steps.take('upkeep and its git program', () => stopUpkeep?.())
  }
}

/** How often work of dead servers is searched for, in milliseconds. */
const LOOK_EVERY = 5000

/** The parts needed to continue another server's work. */
interface TakingOver {
  readonly store: Store
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly onTrouble: (error: unknown) => void
}

/**
 * Continues evaluations of dead or stopped servers, if servers with separate folders share the store; the answered function ends this.
 * Servers of one host leave resuming to clients.
 */
function keepTakingOver(parts: TakingOver): () => void {
  if (!parts.store.fs.documents) return () => undefined
  const look = (): void => void takeOver(parts).catch(parts.onTrouble)
  const timer = setInterval(look, LOOK_EVERY).unref()
  return () => clearInterval(timer)
}

/** Resolves once the found work has begun. */
async function takeOver({ store, projects, runtime, onTrouble }: TakingOver): Promise<void> {
  for (const lease of await documentsOf(store.fs).abandoned()) {
    const [project = '', folder] = lease.path.slice(store.dir.length + 1).split('/')
    if (folder !== 'evaluations') continue
    const registry = await projects.registries.of(project)
    // An evaluation may take hours.
    void runtime.evaluationsOf(registry).takeOver(lease).catch(onTrouble)
  }
}
