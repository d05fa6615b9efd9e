import { Refusal } from '../../errors.ts'
import type { JournalNote } from '../../git/journal/journal-notes.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import { noteDecided, resumeAttempt } from '../idempotency/find-earlier-attempt.ts'
import type { Actor, Registry } from '../registry.ts'
import { writeCommit } from '../revisions/write-commit.ts'
import type { ArtifactState, StateChange } from './artifact-record.ts'
import { META_REF, readArtifactState, writeArtifactState } from './artifact-record.ts'
import type { ArtifactView } from './artifact-view.ts'
import { assertUnguarded } from './write-guards.ts'

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
  /** When an earlier attempt at this very write began, if there was one. */
  readonly attemptedAt?: Date | undefined
  readonly attempt?: KeyedAttempt | undefined
}

/** One go at a write that may be sent again: what it decides is noted with the decision itself, never read out of commits. */
export interface KeyedAttempt {
  /** The commits that earlier attempts decided to put on a ref of an artifact, or were about to. */
  decidedOn(digits: string, ref: string): readonly Oid[]
  /** What a write has to note that puts a commit on a ref. */
  noteOf(digits: string, ref: string, commit: Oid): JournalNote
  /** The same for a commit that no journal will tell of; on the disk when it resolves. */
  plan(digits: string, ref: string, commit: Oid): Promise<void>
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
    const state = await readArtifactState(transaction, head)
    assertUnguarded(artifact.family, state.artifact, context.actor)
    const change = await plan(state, transaction)
    // Who puts a guard up must be able to take it down.
    if (change.artifact) assertUnguarded(artifact.family, change.artifact, context.actor)
    const commit = await commitChange(registry, head, change, context, transaction)
    noteDecided(transaction, artifact, META_REF, commit, context)
  })
  return registry.written(artifact.family, artifact.slug)
}

/** Adds a commit that makes the change to refs/meta/artifact, whose head is given, in the transaction; answers it. */
export async function commitChange(
  registry: Registry,
  head: Oid,
  change: MetaChange,
  context: WriteContext,
  transaction: Transaction,
): Promise<Oid> {
  const commit = {
    tree: await writeArtifactState(transaction, head, change, registry.limits),
    parent: head,
    message: change.subject,
    now: registry.now(),
  }
  const oid = writeCommit(registry, transaction, commit, context)
  transaction.move(META_REF, oid)
  return oid
}
