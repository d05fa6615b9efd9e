import { Refusal } from '../../errors.ts'
import type { Pin } from '../reference.ts'
import type { Registry } from '../registry.ts'
import { resolveReference } from '../revisions/resolve-reference.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { referencesTo } from './pin.ts'

/** Where a pin leads now; the reason instead, if it leads nowhere; undefined if it refers to nothing that could be. */
export async function pinnedRevision(
  registry: Registry,
  pin: Pin,
): Promise<RevisionLocation | Refusal | undefined> {
  let why: Refusal | undefined
  for (const family of registry.families) {
    const references = referencesTo(family, pin)
    if (!references) continue
    try {
      return await resolveReference(registry, family, references)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      why ??= error
    }
  }
  return why
}
