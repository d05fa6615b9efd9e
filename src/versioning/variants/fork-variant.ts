import type { Family } from '../family/family.ts'
import type { References } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { resolveReference } from '../revisions/resolve-reference.ts'
import type { WriteContext } from '../write-context.ts'
import type { NewVariant } from './create-variant.ts'
import { createVariant } from './create-variant.ts'

/**
 * Makes a variant at an existing revision (default: the latest of the variant referred to): a branch at that commit, no
 * copies, the original untouched (interface 9.6, ruling 3.9).
 */
export async function forkVariant(
  registry: Registry,
  family: Family,
  source: References,
  input: Omit<NewVariant, 'start'>,
  context: WriteContext,
): Promise<VariantLocation> {
  const { artifact, oid } = await resolveReference(registry, family, source)
  return createVariant(registry, artifact, { ...input, start: oid }, context)
}
