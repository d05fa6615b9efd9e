import { environmentSurface } from './environments/environment-surface.ts'
import { querySurface } from './queries/query-surface.ts'
import type { Surface } from './surface.ts'
import type { TestsetLimits } from './testsets/import/row-collector.ts'
import { testsetSurface } from './testsets/testset-surface.ts'

/** What of the configuration shapes resources. */
export interface ResourceSettings {
  readonly testsets: TestsetLimits
}

/** Every surface of the service (interface 1.8, 1.3): those of workflows, which their handlers are part of, and all others. */
export function surfacesOf(
  workflows: readonly Surface[],
  { testsets }: ResourceSettings,
): readonly Surface[] {
  return [...workflows, testsetSurface(testsets), environmentSurface, querySurface]
}
