import { Refusal } from '../errors.ts'
import { objectUuid } from './ids.ts'
import type { RevisionPlace } from './revision.ts'
import { variantsHolding } from './revision.ts'

/** What is to be done with what must not be archived. */
export type ArchivedUse = 'write to' | 'deploy'

/** Refuses to write to what is archived, or to deploy it (ruling 3.11). */
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
  { artifact, variant, oid, version }: RevisionPlace,
  use?: ArchivedUse,
): void {
  const record = artifact.archived.get(objectUuid(oid, artifact.digits))
  assertActive('revision', `${variant.slug}-${version}`, record, use)
}

/**
 * Refuses to deploy what is archived: the artifact, the revision by itself, or every variant whose chain holds it (ruling 3.11). The one
 * rule for all ways in which an environment comes to run a revision.
 */
export async function assertDeployable(place: RevisionPlace): Promise<void> {
  const { artifact, oid } = place
  assertActive('artifact', artifact.slug, artifact.record, 'deploy')
  assertRevisionActive(place, 'deploy')
  const holders = await variantsHolding(artifact, await artifact.repository.history.node(oid))
  if (holders.some(({ record }) => record.deleted_at === undefined)) return
  const own = holders.find(({ slug }) => slug === place.variant.slug) ?? holders[0]
  if (own) assertActive('variant', own.slug, own.record, 'deploy')
}
