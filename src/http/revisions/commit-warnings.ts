import { danglingReferences } from '../../embeds/dangling-references.ts'
import { documentOf } from '../../versioning/family/document-family.ts'
import type { Warning } from '../../versioning/family/family.ts'
import { asLarge } from '../../versioning/family/large-document.ts'
import { pinWarnings } from '../../versioning/environments/pin-warnings.ts'
import type { Registry } from '../../versioning/registry.ts'
import { readRevisionAt, type RevisionLocation } from '../../versioning/revisions/revision.ts'
import { presentDeployments } from '../schemas/deployments.ts'
import type { PresentOptions } from '../presenters/record.ts'

/**
 * What the sender of a revision should know of it: `own` is what the payload says by itself, beside it each reference that
 * points at nothing now, at its location.
 */
export async function commitWarnings(
  registry: Registry,
  place: RevisionLocation | undefined,
  own: readonly Warning[] = [],
): Promise<readonly Warning[]> {
  if (!place) return own
  const { family, repository } = place.artifact
  if (!family.pins && !family.mayEmbed) return own
  const { payload } = await registry.revisions(family).readForList(repository.objects, place.oid)
  // What was not committed but moved to, and is too large to look through, is stored since long.
  if (!payload || asLarge(payload)) return own
  const dangling = family.pins
    ? await pinWarnings(registry, family, payload)
    : await danglingReferences(registry, documentOf(payload))
  return [...own, ...dangling]
}

/** What an answer tells of a commit beside its revision: what its sender should know, and where it was deployed in the same write. */
export async function toldOfCommit(
  registry: Registry,
  place: RevisionLocation,
  own: readonly Warning[],
  deployedTo: readonly string[] | undefined,
  present: PresentOptions,
): Promise<object> {
  const warnings = await commitWarnings(registry, place, own)
  const told = warnings.length > 0 ? { warnings } : {}
  if (!deployedTo?.length) return told
  const revision = await readRevisionAt(registry, place)
  return { ...told, deployments: presentDeployments(revision, [...new Set(deployedTo)], true, present) }
}
