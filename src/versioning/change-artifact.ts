import { Refusal } from '../errors.ts'
import { encodeCommit } from '../git/commit.ts'
import type { Transaction } from '../git/transaction.ts'
import type { ArtifactState, StateChange } from './artifact-state.ts'
import { META_REF, readArtifactState, writeArtifactState } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { encodeMessage } from './commit-message.ts'
import type { Actor, Registry } from './registry.ts'
import { resumeAttempt } from './resume-attempt.ts'
import { signatureOf } from './signature.ts'

/** A change of what may change about an artifact, and the line of its history that says so. */
export interface MetaChange extends StateChange {
  /** The commit's subject on refs/meta/artifact, such as `Archive variant main`. */
  readonly subject: string
}

/** What a change is worked out from: the state on the disk (or just before it in the same batch). */
export type PlanChange = (state: ArtifactState, transaction: Transaction) => Promise<MetaChange> | MetaChange

/** How a write is known again: who, and the key that makes repeating it harmless. */
export interface WriteContext {
  readonly actor: Actor
  readonly idempotencyKey?: string | undefined
  /** The id of the artifact that this write creates, chosen beforehand so that an attempt that was cut off is found. */
  readonly artifactId?: string | undefined
  /** When an earlier attempt at this very write began; what it did is looked for before anything is done. */
  readonly attemptedAt?: Date | undefined
}

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
  const earlier = await resumeAttempt(registry, artifact, META_REF, context)
  if (earlier) return earlier.artifact
  await artifact.repository.transact(async (transaction) => {
    const head = transaction.ref(META_REF)
    if (head === undefined) {
      throw new Refusal(
        'artifact_not_found',
        `The ${artifact.family.name} "${artifact.slug}" is gone from the store.`,
      )
    }
    const change = await plan(await readArtifactState(transaction, head), transaction)
    const signature = signatureOf(context.actor, registry.now())
    const commit = encodeCommit({
      tree: await writeArtifactState(transaction, head, change),
      parents: [head],
      author: signature,
      committer: signature,
      message: encodeMessage({
        message: change.subject,
        trailers: context.idempotencyKey === undefined ? {} : { idempotencyKey: context.idempotencyKey },
      }),
    })
    transaction.move(META_REF, transaction.write('commit', commit))
  })
  return registry.index.written(artifact.family, artifact.slug)
}
