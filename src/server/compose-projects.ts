import type { Store } from '../git/store.ts'
import { resolveHost } from '../feeds/outgoing.ts'
import { seedEnvironments, type Family } from '../registry/families.ts'
import type { OtlpExporter } from '../feeds/otlp-exporter.ts'
import { OpenSearch, type ProjectSearch } from '../feeds/search.ts'
import {
  limitedTraces,
  OpenTraces,
  type ProjectAnnotations,
  type SharedTraces,
  type ProjectTraces,
  type TraceSettings,
} from '../feeds/traces.ts'
import {
  type RepositoryProblem,
  Registries,
  type Registry,
  type RegistrySettings,
  type Signing,
} from '../registry/registries.ts'
import { noWebhooks, OpenWebhooks, type ProjectWebhooks } from '../feeds/webhooks.ts'
import type { StartOptions } from './started-service.ts'
import { untilDone } from './watch-filling.ts'

/** The open parts of a store's projects: their artifacts, webhooks and traces. */
export interface Projects {
  readonly registries: Registries
  readonly webhooks: OpenWebhooks
  readonly traces: OpenTraces
  readonly search: OpenSearch
  readonly exporter: OtlpExporter | undefined
  tracesOf(registry: Registry): ProjectTraces
  annotationsOf(registry: Registry): ProjectAnnotations
  searchOf(registry: Registry): ProjectSearch
  webhooksOf(registry: Registry): ProjectWebhooks
}

/** The dependencies of projects. */
interface Composed {
  readonly store: Store
  readonly sharedTraces?: SharedTraces | undefined
  /** Aborted when the service closes. */
  readonly closing: AbortSignal
}

/** Opens nothing yet: a project is opened when the registries start, or on first request. */
export function composeProjects(
  options: StartOptions,
  { store, sharedTraces, closing }: Composed,
  families: readonly Family[],
  settings: RegistrySettings,
  exporter: OtlpExporter | undefined,
): Projects {
  const webhooks = openWebhooks(options, store)
  const traces = openTraces(options, store, sharedTraces)
  const search = new OpenSearch()
  const registries = new Registries(store, families, settings, async (registry) => {
    // The list of environments is complete only when all repositories are here.
    const { filling } = registry.store
    const seed = (): Promise<void> => seedEnvironments(registry)
    if (filling) void filling.whole.then(() => untilDone(seed, { logger: options.log.logger, closing }))
    else await seed()
    webhooks.open(registry)
    traces.of(registry)
    search.of(registry)
  })
  return {
    registries,
    webhooks,
    traces,
    search,
    exporter,
    tracesOf: (registry) =>
      registry.limit ? limitedTraces(traces.of(registry), registry.limit) : traces.of(registry),
    annotationsOf: (registry) => traces.annotationsOf(registry),
    searchOf: (registry) => search.of(registry),
    webhooksOf: (registry) => (registry.limit ? noWebhooks(registry) : webhooks.of(registry)),
  }
}

/** Settings for storing and answering artifacts. */
export function registrySettings(
  { config, log, now }: StartOptions,
  publicUrl: string,
  signing: Signing,
): RegistrySettings {
  return {
    servicesBase: `${publicUrl}/services`,
    now,
    signing,
    limits: {
      maxBytes: config.maxBodyBytes,
      maxDocumentBytes: config.maxDocumentBytes,
      maxValues: config.maxBodyValues,
    },
    isExisting: config.compat === 'existing',
    onProblem: (project: string, { repository, reason }: RepositoryProblem) =>
      log.logger.warn({ project, repository, reason }, 'a repository cannot be served, or not all of it'),
  }
}

/** The exporter of spans, if a collector is configured; loading its packages takes a tenth of a second. */
export async function openExporter({
  config: { telemetry },
  log: { logger },
}: StartOptions): Promise<OtlpExporter | undefined> {
  if (Object.keys(telemetry).length === 0) return undefined
  const { openOtlpExporter } = await import('../feeds/otlp-exporter.ts')
  return openOtlpExporter(telemetry, (sentence) => logger.warn(sentence))
}

function openWebhooks({ config, log, now }: StartOptions, { fs }: Store): OpenWebhooks {
  return new OpenWebhooks(fs, {
    policy: { allowPrivate: config.webhookAllowPrivate, resolve: resolveHost },
    timeoutMs: config.webhookTimeoutMs,
    retrySeconds: config.webhookRetrySeconds,
    now,
    onTrouble: (error) =>
      log.logger.error({ err: error }, 'an event could not be told or sent; it will be tried again'),
  })
}

function openTraces(
  { config, log, now }: StartOptions,
  { guard }: Store,
  shared: SharedTraces | undefined,
): OpenTraces {
  const settings: TraceSettings = {
    isRecording: config.traces === 'on',
    retention: { maxAgeDays: config.tracesMaxAgeDays, maxBytes: config.tracesMaxBytes },
    queryMs: config.tracesQueryTimeoutMs,
    assertThere: () => guard.assertThere(),
    now,
    onTrouble: ({ file, message }) => log.logger.error({ file }, message),
  }
  return new OpenTraces(settings, shared)
}
