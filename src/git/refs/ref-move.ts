import { Refusal } from '../../errors.ts'
import type { Oid } from '../objects/object.ts'

/** A ref to move, with git's compare-and-set precondition. */
export interface RefMove {
  /** A full name (`refs/heads/main`), or `HEAD` to point it at a branch. */
  readonly ref: string
  /** What it must hold now; undefined means "must not exist". HEAD is not compared. */
  readonly expected: Oid | undefined
  /** An object id, or for HEAD `ref: refs/heads/<branch>`; undefined for a ref that is to be deleted. */
  readonly target: string | undefined
  /** False for the operation's ref of truth; true for a ref that follows from it, moved once the truth is on the disk. */
  readonly follows: boolean
}

/**
 * Thrown when a ref no longer holds what the mover expected: nothing was moved, work it out again. Where nobody does, the client may: it is
 * told so.
 */
export class RefMoved extends Refusal {
  constructor(what: string) {
    super('locked', `${what}: another writer was faster. Nothing was stored; try again.`)
  }
}
