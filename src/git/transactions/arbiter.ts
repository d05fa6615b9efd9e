import type { FolderMove } from '../trash/folder-move.ts'
import type { EncodedPack } from '../packs/pack-writer.ts'

/** A ref move as it is decided: `expected` is absent where the ref did not exist, `target` where it was deleted. */
export interface DecidedMove {
  readonly ref: string
  readonly expected?: string | undefined
  readonly target?: string | undefined
}

/** What a write does in one repository. Its refs are locked, and hold what is expected, when it is decided. */
export interface DecidedWrite {
  /** The repository's folder. */
  readonly gitdir: string
  readonly moves: readonly DecidedMove[]
  /** The new objects; absent where they are on the disk already. */
  readonly pack?: EncodedPack | undefined
  /** Where the repository itself is new, how it begins. */
  readonly created?: CreatedRepository | undefined
}

/** A repository that begins with the refs of its first write. */
export interface CreatedRepository {
  /** The number of the folder beside it in which this process built it, until it gets its name (see buildFolder). */
  readonly build: number
  /** The branch that HEAD names. */
  readonly head: string
}

/** What is decided together with the writes. */
export interface DecidedBeside {
  readonly notes?: readonly DecisionNote[]
  /** A repository that goes to the trash of its project, or comes back. */
  readonly moved?: FolderMove
}

/**
 * What a write has beside its refs to leave in the store: that it was decided, as the name of an empty file. It is on the disk with the
 * decision; the file is made before the decision is forgotten.
 */
export interface DecisionNote {
  /** Relative to the store, in a folder that is there. */
  readonly path: string
  /** Asked when the decision is about to be forgotten: false if it is written down elsewhere by now. */
  readonly isNeeded: () => boolean
}

/** A write that has happened, and what became of it in the folder; what is called first counts. */
export interface Decision {
  /** Packs and refs are in place. */
  complete(): void
  /** They could not be put in place and the write is refused: nobody shall do it again. */
  withdraw(): Promise<void>
  /**
   * Refs could be moved only in part: the decision is kept until the next start, which finishes it.
   * False if it was withdrawn before.
   */
  keep(): boolean
}

/**
 * Decides whether a write happens: the one moment of truth of the write path, behind which the folder follows. Today the only one is
 * `FileArbiter`, for whom the folder itself is the truth.
 */
export interface Arbiter {
  /**
   * Resolves when these writes have happened, all of them, and survive a power cut; rejects if they cannot, and then none did. To be
   * called while their refs are locked; where a repository is moved, while it is fenced; where one is made, by who has the slugs.
   */
  decide(writes: readonly DecidedWrite[], beside?: DecidedBeside): Promise<Decision>
  /** Resolves once everything that was acknowledged anywhere before the call is in the folder. */
  fresh(): Promise<void>
  /**
   * Finishes what a dead process decided: before one of its locks, which keep others from what is left to do, is taken
   * over. `dead` is a name that begins with the process's identity.
   */
  finishFor(dead: string): Promise<void>
  /**
   * Resolves once no decision tells any more that the repository was made: from then on nobody makes it again. Refuses with `locked` if
   * that takes too long.
   */
  untilSettled(gitdir: string): Promise<void>
}
