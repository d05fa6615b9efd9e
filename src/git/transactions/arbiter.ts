import { Refusal } from '../../errors.ts'
import type { BeforeTakeOver } from '../../storage/files.ts'
import type { EncodedPack } from '../packs/pack-writer.ts'
import type { FolderMove } from '../trash/folder-move.ts'

/** A decided ref move: `expected` is absent if the ref did not exist, `target` if it was deleted. */
export interface DecidedMove {
  readonly ref: string
  readonly expected?: string | undefined
  readonly target?: string | undefined
}

/** A write to one repository. When it is decided, its refs are locked and have the expected values. */
export interface DecidedWrite {
  /** The repository's folder. */
  readonly gitdir: string
  readonly moves: readonly DecidedMove[]
  /** The new objects; absent if they are on the disk already. */
  readonly pack?: EncodedPack | undefined
  /** The names that `DecidedElsewhere.stageLarge` answered for large packs of new objects. */
  readonly large?: readonly string[]
  /** The names that the repository gets in its project (interface 4.9). */
  readonly claims?: readonly NameClaim[]
  /** Set if the write creates the repository. */
  readonly created?: CreatedRepository | undefined
}

/** A repository that begins with the refs of its first write. */
export interface CreatedRepository {
  /** The number of the temporary folder in which this process built it (see buildFolder). */
  readonly build: number
  /** The branch that HEAD names. */
  readonly head: string
}

/** A name that is shared in a project, such as a slug, prefixed by its kind and normalised for comparison. */
export interface NameClaim {
  readonly name: string
  /** The name must be free in the project. */
  readonly mustBeFree: boolean
  /** The repository gets the name. */
  readonly isTaken: boolean
}

/** A pack too large to be part of a decision. */
export interface LargePack {
  readonly name: string
  /** The file, which is synced. */
  readonly path: string
}

/** What is decided together with the writes. */
export interface DecidedBeside {
  readonly notes?: readonly DecisionNote[]
  /** A repository that moves to the project's trash, or back. */
  readonly moved?: FolderMove
  /** A repository in the trash that is purged. */
  readonly purged?: PurgedRepository
  /** Folders of repositories that must still exist, without being written to. */
  readonly needs?: readonly string[]
  /** Repositories that must not have changed since. */
  readonly seen?: Seen
}

/** A repository that is removed permanently. */
export interface PurgedRepository {
  /** Its folder in the trash. */
  readonly gitdir: string
  /** Whether the removal is remembered (see TrashFolder.wasPurged). */
  readonly isRemembered: boolean
}

/** The versions of repositories at one moment, by their folders; empty if a fence suffices. */
export type Seen = ReadonlyMap<string, number>

/**
 * Another server has claimed the name meanwhile, so the check that found it free was outdated. Callers check again (see
 * `ProjectStore.claimingSlugs`).
 */
export class NameClaimed extends Refusal {
  constructor(name: string) {
    super('slug_taken', `The name "${name}" was taken just now. Choose another one.`)
  }
}

/**
 * A note that a write was decided, stored as the name of an empty file. It is durable with the decision, and the file is created before the
 * decision is forgotten.
 */
export interface DecisionNote {
  /** Relative to the store, in an existing folder. */
  readonly path: string
  /** Called before the decision is forgotten; false if it is recorded elsewhere by then. */
  readonly isNeeded: () => boolean
}

/** How fresh a read is: it includes everything acknowledged on any server before `since`. */
export interface Freshness {
  /** How this is ensured: see READS in docs/configuration.md. */
  readonly by: 'quorum' | 'primary' | 'local'
  /** On the clock of `performance`, in milliseconds. */
  readonly since: number
}

/** A write that has happened. The first method that is called reports what happened in the folder. */
export interface Decision {
  /** Packs and refs are in place. */
  complete(): void
  /** They could not be placed, and the write is refused: it must not be applied later. */
  withdraw(): Promise<void>
  /** Only some refs could be moved: the decision is kept for the next start, which finishes it. False if it was withdrawn before. */
  keep(): boolean
}

/** For writes that no record decides, only a rename. */
export const DECIDED_BY_RENAME: Decision = {
  complete: () => undefined,
  withdraw: async () => undefined,
  keep: () => false,
}

/** The filling of a folder that is still incomplete. What it has is as fresh as always; a repository that a request names comes first. */
export interface Filling {
  /** How many repositories of how many are there, and why no more come at the moment, if so. */
  progress(): FillProgress
  /** Resolves when the folder is complete. */
  readonly whole: Promise<void>
  /**
   * Copies the project's repositories that claim a name (see NameClaim) if they are missing; answers their paths relative to the store,
   * including those in the trash.
   */
  bring(project: string, name: string): Promise<readonly string[]>
}

export interface FillProgress {
  readonly there: number
  readonly of: number
  readonly problem?: string | undefined
}

/**
 * Decides whether a write happens; the folder follows the decision. For `Journal` the folder is the truth; for servers that share a database
 * it is their log.
 */
export interface Arbiter {
  /** For servers with folders of their own; absent if the folder is the truth. */
  readonly elsewhere?: DecidedElsewhere
  /** For servers that share a folder; absent if one server alone has it. */
  readonly shared?: SharedFolder
  /**
   * Resolves when these writes have all happened and survive a power cut; rejects if they cannot happen, and then none has. The caller holds
   * the locks of the refs, the fence of a repository that moves, and the lock `slugs` for one that is created. Throws RefMoved if another
   * server was faster, and NameClaimed if it took a name.
   */
  decide(writes: readonly DecidedWrite[], beside?: DecidedBeside): Promise<Decision>
  /** Syncs decided writes to their final place in the folder. */
  checkpoint(): Promise<void>
  /** Repairs what the folder may have lost while it was unavailable; it is not used meanwhile. */
  afterReturn(): Promise<void>
  /** Called after the last read and write. */
  close(): Promise<void>
}

/** Decisions outside the folder, which is then a copy. */
export interface DecidedElsewhere {
  /** Absent if the folder is complete. */
  readonly filling?: Filling | undefined
  /**
   * Decides about a complete repository on the disk that is about to get its name, replacing another one or none. If the folder is the truth,
   * the rename decides instead.
   */
  admit(write: DecidedWrite): Promise<Decision>
  /** Stores packs before a decision names them, and before anything is locked for it; answers their names. A pack object is stored once. */
  stageLarge(packs: readonly LargePack[]): Promise<readonly string[]>
  /** The current versions of these repositories; what is then read in the folder is at least as new. */
  seen(gitdirs: readonly string[]): Promise<Seen>
  /** Whether the repository was purged; the folder itself may not know. */
  wasPurged(gitdir: string): Promise<boolean>
  /** Resolves when everything acknowledged on any server before the call is in the folder. */
  fresh(): Promise<void>
  /** As `fresh`, as far as reads require it; answers how fresh the folder is. */
  readable(): Promise<Freshness>
}

/** What other servers of the same folder may have left in it. */
export interface SharedFolder {
  /** Finishes the decisions of a dead process, before one of its locks, which protect unfinished work, is taken. */
  readonly finishFor: BeforeTakeOver
  /**
   * Resolves when no record says any more that the repository was created, so that no process creates it again. Refuses with `locked` if that
   * takes too long.
   */
  untilSettled(gitdir: string): Promise<void>
  /** The notes of decisions that have no file yet. */
  notes(): readonly string[]
}
