import type { Family } from '../../../src/registry/payload/family.ts'
import type { VariantLocation } from '../../../src/registry/revisions/references.ts'
import type { CrashServer } from './open-server.ts'
import type { Random } from '../../../test/support/values/random.ts'

/** Some variant of some artifact of a family; undefined if there is none. */
export async function randomPlace(
  { registry }: CrashServer,
  random: Random,
  family: Family,
): Promise<VariantLocation | undefined> {
  const artifact = random.pick([...(await registry.index.list(family))])
  const variant = artifact && random.pick(artifact.variants)
  return variant && { artifact, variant }
}
