import { environmentSurface } from './environment-surface.ts'
import { querySurface } from './query-surface.ts'
import type { Surface } from './surface.ts'
import type { TestsetLimits } from '../testsets/import/row-collector.ts'
import { testsetSurface } from '../testsets/testset-surface.ts'

/** The configuration of resources. */
export interface ResourceSettings {
  readonly testsets: TestsetLimits
}

/**
 * All surfaces of the service (interface 1.8, 1.3): those of workflows, which depend on their handlers, and
 * all others.
 */
export function surfacesOf(
  workflows: readonly Surface[],
  { testsets }: ResourceSettings,
): readonly Surface[] {
  return [...workflows, testsetSurface(testsets), environmentSurface, querySurface]
}
