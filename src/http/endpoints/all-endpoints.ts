import type { ResourceSettings } from '../../registry/families.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { artifactEndpoints } from './artifact-endpoints.ts'
import { catalogEndpoints } from './catalog-endpoints.ts'
import { deploymentLogEndpoint } from './deployment-log-endpoint.ts'
import { deploymentsEndpoint } from './deployments-endpoint.ts'
import { findRowEndpoint } from './find-row-endpoint.ts'
import { sharedForkEndpoint } from './fork-endpoints.ts'
import { graphEndpoint } from './graph-endpoint.ts'
import { inWordsOf } from '../routing/answers.ts'
import { legacyTemplatesEndpoint } from './legacy-templates-endpoint.ts'
import { projectEndpoint } from './project-endpoint.ts'
import { revisionEndpoints } from './revision-endpoints.ts'
import { rowHistoryEndpoint } from './row-history-endpoint.ts'
import { simpleEndpoints } from './simple-endpoints.ts'
import { storageEndpoint } from './storage-endpoint.ts'
import { testcaseEndpoints } from './testcase-endpoints.ts'
import { testsetFileEndpoints } from './testset-file-endpoints.ts'
import { variantEndpoints } from './variant-endpoints.ts'

/**
 * All routes that need a key, the most frequent first: the same set for every surface, and the shared fork.
 */
export function allEndpoints(surfaces: readonly SurfaceContext[], settings: ResourceSettings): Endpoint[] {
  return [
    legacyTemplatesEndpoint,
    ...surfaces.flatMap((context) =>
      inWordsOf(context, [
        ...revisionEndpoints(context),
        ...variantEndpoints(context),
        ...artifactEndpoints(context),
        graphEndpoint(context),
        ...(context.surface.hasCatalog ? catalogEndpoints(context) : []),
        ...simpleEndpoints(context),
        ...(context.surface.path === 'environments'
          ? [deploymentsEndpoint(context), deploymentLogEndpoint(context)]
          : []),
        ...(context.surface.payload === 'rows'
          ? [
              ...testsetFileEndpoints(context, settings.testsets),
              ...testcaseEndpoints(context),
              rowHistoryEndpoint(context),
              findRowEndpoint(context),
            ]
          : []),
      ]),
    ),
    sharedForkEndpoint(surfaces),
    projectEndpoint(surfaces),
    storageEndpoint,
  ]
}
