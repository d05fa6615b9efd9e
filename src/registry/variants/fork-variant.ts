import type { Family } from '../payload/family.ts'
import type { References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { type VariantLocation, resolveReference } from '../revisions/references.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { NewVariant } from './create-variant.ts'
import { createVariant } from './create-variant.ts'

/**
 * Creates a variant at an existing revision (by default the latest of the variant referred to): a branch at
 * that commit, without copies or changes to the original (interface 4.22). `check` may refuse the source.
 */
export async function forkVariant(
  registry: Registry,
  family: Family,
  source: References,
  input: Omit<NewVariant, 'start'>,
  context: WriteContext,
  check: (source: RevisionLocation) => void = () => undefined,
): Promise<VariantLocation> {
  const place = await resolveReference(registry, family, source)
  check(place)
  const { artifact, oid } = place
  return createVariant(registry, artifact, { ...input, start: oid }, context)
}
