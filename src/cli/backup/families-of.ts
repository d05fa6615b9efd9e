import type { Config } from '../../config.ts'
import { workflowSurfaces } from '../../run/handlers.ts'
import { surfacesOf, type Family } from '../../registry/families.ts'
import { resourceSettings } from '../../server/resource-settings.ts'

/**
 * The families of a store, environments first. Artifacts are read later, so they have the revisions that the environments run, even if the
 * store is written to meanwhile.
 */
export function familiesOf(config: Config): readonly Family[] {
  const families = new Set(surfacesOf(workflowSurfaces, resourceSettings(config)).map(({ family }) => family))
  return [...families].sort((a, b) => Number(b.pins !== undefined) - Number(a.pins !== undefined))
}
