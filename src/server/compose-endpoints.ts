import { basename } from 'node:path/posix'
import { keyNames, type KeyUses } from '../access/keys.ts'
import type { OpenEvents } from '../http/events.ts'
import {
  allEndpoints,
  annotationEndpoints,
  auditEndpoint,
  backupEndpoint,
  deliveryEndpoints,
  eventEndpoint,
  evaluationEndpoints,
  folderEndpoints,
  invocationEndpoints,
  langfuseEndpoints,
  litellmEndpoint,
  keyEndpoints,
  projectsEndpoints,
  removalEndpoints,
  searchEndpoint,
  secretEndpoints,
  includeTraces,
  sessionEndpoints,
  traceEndpoints,
  webhookEndpoints,
} from '../http/endpoints.ts'
import type { Semaphore } from '../base/scheduling.ts'
import { type Endpoint, type Spools, withAnswers } from '../http/routing.ts'
import { type SurfaceContext, surfaceContext, type SurfaceSettings } from '../http/surface-context.ts'
import { queryFamily, type Surface } from '../registry/families.ts'
import type { Fs } from '../storage/files.ts'
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
  readonly gitPermits: Semaphore
  readonly spools: Spools
  /** The service's address, without a slash at the end. */
  readonly publicUrl: string
}

/** All routes that need a key, and the presentation of each surface. */
export interface Routes {
  readonly endpoints: readonly Endpoint[]
  readonly contexts: readonly SurfaceContext[]
}

export function composeEndpoints({
  options: { config, now },
  fs,
  surfaces,
  projects: { tracesOf, annotationsOf, webhooksOf, searchOf },
  runtime,
  keyUses,
  access,
  events,
  gitPermits,
  spools,
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
  const keyPlace = { fs, storeDir, uses: keyUses, hasAdminKey: adminKey !== undefined, now }
  const endpoints = [
    ...allEndpoints(contexts, resourceSettings(config)),
    ...webhookEndpoints(webhooksOf),
    ...deliveryEndpoints(webhooksOf),
    ...invocationEndpoints(runtime.services, tracesOf, { ...settings, answered: [] }),
    ...evaluationEndpoints(evaluationsOf, contexts),
    ...keyEndpoints(keyPlace),
    ...projectsEndpoints(keyPlace),
    backupEndpoint({ gitPermits, spools }),
    auditEndpoint({ fs, storeDir, sessions: access.sessions, secretsOf: runtime.secretsOf }),
    ...sessionEndpoints({ ...access, publicUrl: config.publicUrl }),
    eventEndpoint({ ...access, events }),
    ...folderEndpoints(surfaces, { fs, storeDir }),
    ...secretEndpoints(runtime),
    ...traceEndpoints({ tracesOf, annotationsOf, namesOf: settings.namesOf }),
    ...contexts.flatMap((it) =>
      it.surface.path === 'evaluators' ? annotationEndpoints(annotationsOf, it) : [],
    ),
    searchEndpoint(searchOf, surfaces, settings),
    ...contexts.flatMap((it) =>
      it.surface.path === 'applications' ? [...langfuseEndpoints(it), litellmEndpoint(it)] : [],
    ),
    ...removalEndpoints(contexts, { tracesOf, evaluationsOf, webhooksOf }),
  ].map((it) => withAnswers(it, isExisting))
  return { endpoints, contexts }
}
