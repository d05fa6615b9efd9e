import { danglingReferences } from '../embeds/dangling-references.ts'
import { documentOf } from '../versioning/document-family.ts'
import type { Warning } from '../versioning/family.ts'
import { pinWarnings } from '../versioning/pin-warnings.ts'
import type { Registry } from '../versioning/registry.ts'
import type { RevisionPlace } from '../versioning/revision.ts'

/**
 * What the sender of a revision should know of it: `own` is what the payload says by itself, beside it each reference that
 * points at nothing now, at its location.
 */
export async function commitWarnings(
  registry: Registry,
  place: RevisionPlace | undefined,
  own: readonly Warning[] = [],
): Promise<readonly Warning[]> {
  if (!place) return own
  const { family, repository } = place.artifact
  if (!family.pins && !family.mayEmbed) return own
  const { payload } = await registry.revisions(family).readForList(repository.objects, place.oid)
  if (!payload) return own
  const dangling = family.pins
    ? await pinWarnings(registry, family, payload)
    : await danglingReferences(registry, documentOf(payload))
  return [...own, ...dangling]
}
