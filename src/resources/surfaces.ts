import { environmentSurface } from './environments/environment-surface.ts'
import { querySurface } from './queries/query-surface.ts'
import type { Surface } from './surface.ts'
import type { TestsetLimits } from './testsets/import/row-collector.ts'
import { testsetSurface } from './testsets/testset-surface.ts'
import { workflowSurfaces } from './workflows/workflow-surfaces.ts'

/** What of the configuration shapes resources. */
export interface ResourceSettings {
  readonly testsets: TestsetLimits
}

/** Every surface of the service (interface 2, 4). */
export function surfacesOf({ testsets }: ResourceSettings): readonly Surface[] {
  return [...workflowSurfaces, testsetSurface(testsets), environmentSurface, querySurface]
}
