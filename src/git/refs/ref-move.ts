import { Refusal } from '../../errors.ts'
import type { Oid } from '../objects/object.ts'

/** A ref to move, with git's compare-and-set precondition. */
export interface RefMove {
  /** A full name (`refs/heads/main`), or `HEAD` to point it at a branch. */
  readonly ref: string
  /** The value that it must have now; undefined means "must not exist". HEAD is not compared. */
  readonly expected: Oid | undefined
  /** An object id, or for HEAD `ref: refs/heads/<branch>`; undefined deletes the ref. */
  readonly target: string | undefined
  /** False for the deciding ref of the operation; true for a derived ref, which is moved once the decision is on the disk. */
  readonly follows: boolean
}

/**
 * Thrown when a ref does not have the expected value: nothing was moved, and the write must be computed again. If no caller does that, the
 * client is told to retry.
 */
export class RefMoved extends Refusal {
  constructor(what: string) {
    super('locked', `${what}: another writer was faster. Nothing was stored; try again.`)
  }
}
