import { Refusal } from '../../errors.ts'
import type { Family } from '../payload/family.ts'
import type { Pin, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { resolveReference } from '../revisions/references.ts'
import { isHeldBy, type RevisionLocation } from '../revisions/revision.ts'
import { referencesTo } from './pin.ts'

/** The revision that a pin leads to now, or why it leads nowhere; undefined if it refers to nothing deployable. */
export async function pinnedRevision(
  registry: Registry,
  pin: Pin,
): Promise<RevisionLocation | Refusal | undefined> {
  let why: Refusal | undefined
  for (const family of registry.families) {
    const references = referencesTo(family, pin)
    if (!references) continue
    try {
      return await resolvePinned(registry, family, references)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      why ??= error
    }
  }
  return why
}

/**
 * Resolves a pin's references. The answer names the variant that was deployed, if that is live and still has the revision: several variants
 * may have one commit. Refuses as resolveReference does.
 */
export async function resolvePinned(
  registry: Registry,
  family: Family,
  references: References,
): Promise<RevisionLocation> {
  const place = await resolveReference(registry, family, references)
  const { id, slug } = references.variant ?? {}
  const named = place.artifact.variants.find((it) => (id === undefined ? it.slug === slug : it.id === id))
  if (!named || named.id === place.variant.id || named.record.deleted_at !== undefined) return place
  return (await isHeldBy(place, named)) ? { ...place, variant: named } : place
}
