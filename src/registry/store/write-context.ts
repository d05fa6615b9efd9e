import type { DecisionNote } from '../../git/transactions.ts'
import type { Oid } from '../../git/objects.ts'
import type { MetRows } from '../payload/family.ts'

/** Who acts: the API key's id, name and email. Name and email become the git author. */
export interface Actor {
  readonly id: string
  readonly name: string
  readonly email: string
  /** Whether it may write to guarded artifacts. */
  readonly mayDeploy?: boolean
}

/** What identifies a write: the actor, and the key that makes repeating it harmless. */
export interface WriteContext {
  readonly actor: Actor
  readonly idempotencyKey?: string | undefined
  /**
   * The id of the artifact that this write creates, chosen beforehand so that an interrupted attempt is
   * found.
   */
  readonly artifactId?: string | undefined
  /** When an earlier attempt at this write began, if there was one. */
  readonly attemptedAt?: Date | undefined
  readonly attempt?: KeyedAttempt | undefined
}

/**
 * An attempt at a repeatable write. Its decision is recorded together with the write, and never derived from
 * commits.
 */
export interface KeyedAttempt {
  /** The commits that earlier attempts put, or were about to put, on a ref of an artifact. */
  decidedOn(
    digits: string,
    ref: string,
  ): readonly { readonly commit: Oid; readonly met: MetRows | undefined }[]
  /** The note for a write that puts a commit on a ref; `met` counts sent rows that were not stored. */
  noteOf(digits: string, ref: string, commit: Oid, met?: MetRows): DecisionNote
}
