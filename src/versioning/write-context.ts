import type { DecisionNote } from '../git/transactions/arbiter.ts'
import type { Oid } from '../git/objects/object.ts'
import type { MetRows } from './family/family.ts'

/** Who does something: the API key's id, name and email. Name and email become the git author. */
export interface Actor {
  readonly id: string
  readonly name: string
  readonly email: string
  /** Whether guarded artifacts may be written to. */
  readonly mayDeploy?: boolean
}

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
  decidedOn(
    digits: string,
    ref: string,
  ): readonly { readonly commit: Oid; readonly met: MetRows | undefined }[]
  /** What a write has to note that puts a commit on a ref; `met` is what became of rows that were sent. */
  noteOf(digits: string, ref: string, commit: Oid, met?: MetRows): DecisionNote
}
