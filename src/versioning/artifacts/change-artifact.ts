import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import { noteDecided, findEarlierAttempt } from '../idempotency/find-earlier-attempt.ts'
import type { Registry } from '../registry.ts'
import { writeCommit } from '../revisions/write-commit.ts'
import type { WriteContext } from '../write-context.ts'
import type { ArtifactState, StateChange } from './artifact-record.ts'
import { META_REF, readArtifactState, writeArtifactState } from './artifact-record.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { VariantRecord } from './records.ts'
import { assertUnguarded } from './write-guards.ts'

/** A change of what may change about an artifact, and the line of its history that says so. */
export interface MetaChange extends StateChange {
  /** The commit's subject on refs/meta/artifact, such as `Archive variant main`. */
  readonly subject: string
}

/** What a change is worked out from: the state on the disk (or just before it in the same batch). */
export type PlanChange = (state: ArtifactState, transaction: Transaction) => Promise<MetaChange> | MetaChange

/**
 * Commits a change to an artifact's refs/meta/artifact by the actor and answers the artifact as it is then. Everything that
 * edits, archives, or adds variants goes through here.
 */
export async function changeArtifact(
  registry: Registry,
  artifact: ArtifactView,
  context: WriteContext,
  plan: PlanChange,
): Promise<ArtifactView> {
  const earlier = await findEarlierAttempt(registry, artifact, META_REF, context)
  if (earlier) return earlier.artifact
  await artifact.repository.transact(async (transaction) => {
    const head = transaction.ref(META_REF)
    if (head === undefined) {
      throw new Refusal(
        'artifact_not_found',
        `The ${artifact.family.name} "${artifact.slug}" is gone from the store.`,
      )
    }
    const state = await readArtifactState(transaction, head)
    assertUnguarded(artifact.family, state.artifact, context.actor)
    const change = await plan(state, transaction)
    // Who puts a guard up must be able to take it down.
    if (change.artifact) assertUnguarded(artifact.family, change.artifact, context.actor)
    const commit = await commitChange(registry, artifact, state, change, context, transaction)
    noteDecided(transaction, artifact, META_REF, commit, context)
  })
  return registry.written(artifact.family, artifact.slug)
}

/** Adds a commit that makes the change of the state to refs/meta/artifact, in the transaction; answers it. */
export async function commitChange(
  registry: Registry,
  artifact: ArtifactView,
  state: ArtifactState,
  change: MetaChange,
  context: WriteContext,
  transaction: Transaction,
): Promise<Oid> {
  const head = transaction.ref(META_REF)
  if (head === undefined) throw new Error(`${artifact.slug} has a state, and no commit that holds it`)
  const whole = withClaims(artifact, state, change)
  const commit = {
    tree: await writeArtifactState(transaction, head, whole, registry.limits),
    parents: [head],
    message: change.subject,
  }
  const { oid } = writeCommit(registry, transaction, commit, context)
  transaction.move(META_REF, oid)
  return oid
}

/**
 * The change, and beside it since when branches and tags are there that have no record: of those that it records, and, where an earlier
 * version recorded no tags, of all (decision 40).
 */
function withClaims(
  { variants, tagsSince }: ArtifactView,
  state: ArtifactState,
  change: MetaChange,
): StateChange {
  const isFirst = state.tags === undefined
  const claimed = new Map<string, VariantRecord>()
  for (const { slug, record, since } of variants) {
    const isChanged = change.variants !== undefined && Object.hasOwn(change.variants, slug)
    const changed = isChanged ? change.variants[slug] : isFirst ? record : undefined
    if (changed && !state.variants.has(slug) && changed.claimed_at === undefined)
      claimed.set(slug, since === record.created_at ? changed : { ...changed, claimed_at: since })
  }
  return {
    ...change,
    ...(claimed.size > 0 ? { variants: { ...change.variants, ...Object.fromEntries(claimed) } } : {}),
    ...(isFirst ? { tags: new Map([...tagsSince, ...(change.tags ?? [])]) } : {}),
  }
}
