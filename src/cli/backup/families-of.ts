import type { Config } from '../../config.ts'
import { workflowSurfaces } from '../../run/handlers.ts'
import { surfacesOf, type Family } from '../../registry/families.ts'
import { resourceSettings } from '../../server/resource-settings.ts'

/**
 * The families of a store, environments first: in a store that is written to meanwhile, the artifacts, which are read later, then have the
 * revisions that environments run.
 */
export function familiesOf(config: Config): readonly Family[] {
  const families = new Set(surfacesOf(workflowSurfaces, resourceSettings(config)).map(({ family }) => family))
  return [...families].sort((a, b) => Number(b.pins !== undefined) - Number(a.pins !== undefined))
}
