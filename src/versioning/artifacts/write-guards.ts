import { Refusal } from '../../errors.ts'
import type { Family } from '../family/family.ts'
import { objectUuid } from '../ids.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { variantsHolding } from '../revisions/revision.ts'
import type { Actor } from '../write-context.ts'
import type { ArtifactRecord } from './artifact-record.ts'

/** What is to be done with what must not be archived. */
export type ArchivedUse = 'write to' | 'deploy' | 'merge'

/** Refuses to write to what is archived, or to deploy or merge it (interface 4.28). */
export function assertActive(
  level: 'artifact' | 'variant' | 'revision',
  slug: string,
  record: { readonly deleted_at?: string | undefined } | undefined,
  use: ArchivedUse = 'write to',
): void {
  if (record?.deleted_at === undefined) return
  throw new Refusal(
    'archived',
    `The ${level} "${slug}" was archived at ${record.deleted_at}. Unarchive it before you ${use} it.`,
  )
}

/** Refuses a revision that was archived by itself. */
export function assertRevisionActive(
  { artifact, variant, oid, version }: RevisionLocation,
  use?: ArchivedUse,
): void {
  const record = artifact.archived.get(objectUuid(oid, artifact.digits))
  assertActive('revision', `${variant.slug}-${version}`, record, use)
}

/**
 * Refuses to deploy what is archived: the artifact, the revision by itself, or every variant whose chain holds it (interface 4.28). The one
 * rule for all ways in which an environment comes to run a revision.
 */
export async function assertDeployable(place: RevisionLocation): Promise<void> {
  const { artifact, oid } = place
  assertActive('artifact', artifact.slug, artifact.record, 'deploy')
  assertRevisionActive(place, 'deploy')
  const holders = await variantsHolding(artifact, await artifact.repository.history.node(oid))
  if (holders.some(({ record }) => record.deleted_at === undefined)) return
  const own = holders.find(({ slug }) => slug === place.variant.slug) ?? holders[0]
  if (own) assertActive('variant', own.slug, own.record, 'deploy')
}

/**
 * Refuses a write to an artifact that is guarded, or that this write would guard, to a key that may not deploy (interface 9.10).
 *
 */
export function assertUnguarded(
  { guardFlag, name }: Family,
  { slug, flags }: Pick<ArtifactRecord, 'slug' | 'flags'>,
  actor: Actor,
): void {
  if (guardFlag === undefined || actor.mayDeploy || !flags?.[guardFlag]) return
  throw new Refusal(
    'guarded',
    `The ${name} "${slug}" is guarded, or would be now, and the key "${actor.name}" lacks the scope "deploy". Use a key that has it.`,
    { details: { scope: 'deploy' } },
  )
}
