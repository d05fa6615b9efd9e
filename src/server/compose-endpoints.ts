import { basename } from 'node:path/posix'
import { keyNames } from '../access/api-keys.ts'
import type { KeyUses } from '../access/key-uses.ts'
import type { OpenEvents } from '../events/open-events.ts'
import { allEndpoints } from '../http/endpoints/all-endpoints.ts'
import { deliveryEndpoints } from '../http/endpoints/delivery-endpoints.ts'
import { eventEndpoint } from '../http/endpoints/event-endpoint.ts'
import { evaluationEndpoints } from '../http/endpoints/evaluation-endpoints.ts'
import { invocationEndpoints } from '../http/endpoints/invocation-endpoints.ts'
import { keyEndpoints } from '../http/endpoints/key-endpoints.ts'
import { removalEndpoints } from '../http/endpoints/removal/removal-endpoints.ts'
import { searchEndpoint } from '../http/endpoints/search-endpoint.ts'
import { secretEndpoints } from '../http/endpoints/secret-endpoints.ts'
import { includeTraces } from '../http/endpoints/traces/include-traces.ts'
import { sessionEndpoints } from '../http/endpoints/session-endpoints.ts'
import { traceEndpoints } from '../http/endpoints/traces/trace-endpoints.ts'
import { webhookEndpoints } from '../http/endpoints/webhook-endpoints.ts'
import type { Endpoint } from '../http/routing/endpoint.ts'
import { withAnswers } from '../http/routing/answers.ts'
import { type SurfaceContext, surfaceContext, type SurfaceSettings } from '../http/surface-context.ts'
import { queryFamily } from '../resources/queries/query-family.ts'
import type { Surface } from '../resources/surface.ts'
import type { Fs } from '../storage/fs.ts'
import type { Access } from './compose-access.ts'
import type { Projects } from './compose-projects.ts'
import { resourceSettings } from './resource-settings.ts'
import type { StartOptions } from './started-service.ts'
import type { WorkflowRuntime } from './workflow-runtime.ts'

export interface EndpointParts {
  readonly options: StartOptions
  readonly fs: Fs
  readonly surfaces: readonly Surface[]
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly keyUses: KeyUses
  readonly access: Access
  readonly events: OpenEvents
  /** The service's address, without a slash at the end. */
  readonly publicUrl: string
}

/** All routes that need a key, and the presentation of each surface. */
export interface Routes {
  readonly endpoints: readonly Endpoint[]
  readonly contexts: readonly SurfaceContext[]
}

export function composeEndpoints({
  options: { config },
  fs,
  surfaces,
  projects: { tracesOf, webhooksOf, searchOf },
  runtime,
  keyUses,
  access,
  events,
  publicUrl,
}: EndpointParts): Routes {
  const { storeDir, adminKey } = config
  const { evaluationsOf } = runtime
  const isExisting = config.compat === 'existing'
  const settings: SurfaceSettings = {
    servicesBase: `${publicUrl}/services`,
    gitBase: `${publicUrl}/git`,
    versionType: config.versionType,
    authorType: isExisting ? 'uuid' : 'text',
    isExisting,
    contradictions: isExisting ? 'refused' : 'warned',
    searchOf,
    namesOf: ({ store }) => keyNames(fs, storeDir, basename(store.folder)),
  }
  const contexts = surfaces.map((surface) => ({
    ...surfaceContext(surface, surfaces, settings),
    ...(surface.family === queryFamily ? { enrichment: includeTraces(tracesOf) } : {}),
  }))
  const endpoints = [
    ...allEndpoints(contexts, resourceSettings(config)),
    ...webhookEndpoints(webhooksOf),
    ...deliveryEndpoints(webhooksOf),
    ...invocationEndpoints(runtime.services, { ...settings, answered: [] }),
    ...evaluationEndpoints(evaluationsOf, contexts),
    ...keyEndpoints({ fs, storeDir, uses: keyUses, hasAdminKey: adminKey !== undefined }),
    ...sessionEndpoints({ ...access, publicUrl: config.publicUrl }),
    eventEndpoint({ ...access, events }),
    ...secretEndpoints(runtime.secretsOf),
    ...traceEndpoints(tracesOf),
    searchEndpoint(searchOf, surfaces, settings),
    ...removalEndpoints(contexts, { tracesOf, evaluationsOf, webhooksOf }),
  ].map((it) => withAnswers(it, isExisting))
  return { endpoints, contexts }
}
