import { Refusal } from '../../errors.ts'
import type { BeforeTakeOver } from '../../storage/lock-file.ts'
import type { EncodedPack } from '../packs/pack-writer.ts'
import type { FolderMove } from '../trash/folder-move.ts'

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
  /** What `DecidedElsewhere.stageLarge` answered of packs of new objects that are on the disk. */
  readonly large?: readonly string[]
  /** The names that the repository comes to have in its project (interface 4.9). */
  readonly claims?: readonly NameClaim[]
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

/** A name that things of a project share, such as a slug: what kind of name it is, and the name as it is compared. */
export interface NameClaim {
  readonly name: string
  /** Nothing in the project may have it yet. */
  readonly mustBeFree: boolean
  /** The repository has it from then on. */
  readonly isTaken: boolean
}

/** A pack that is too large to be a part of a decision. */
export interface LargePack {
  readonly name: string
  /** The file, which is on the disk. */
  readonly path: string
}

/** What is decided together with the writes. */
export interface DecidedBeside {
  readonly notes?: readonly DecisionNote[]
  /** A repository that goes to the trash of its project, or comes back. */
  readonly moved?: FolderMove
  /** A repository in the trash that goes for good. */
  readonly purged?: PurgedRepository
  /** Folders of repositories that are written to by nobody here, and have to be there still. */
  readonly needs?: readonly string[]
  /** Repositories that nobody may have written to since. */
  readonly seen?: Seen
}

/** A repository that goes for good. */
export interface PurgedRepository {
  /** Its folder in the trash. */
  readonly gitdir: string
  /** It is remembered that it was there (see TrashFolder.wasPurged). */
  readonly isRemembered: boolean
}

/** What repositories were at one moment, by their folders; empty where a fence says enough. */
export type Seen = ReadonlyMap<string, number>

/**
 * A name that somebody at another server has claimed meanwhile: what was looked at to find it free was too old. Whoever claims looks again
 * (see `ProjectStore.claimingSlugs`).
 */
export class NameClaimed extends Refusal {
  constructor(name: string) {
    super('slug_taken', `The name "${name}" was taken just now. Choose another one.`)
  }
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

/** How fresh what is read is: it has all that was acknowledged anywhere before a moment. */
export interface Freshness {
  /** What makes sure of that: see READS in docs/configuration.md. */
  readonly by: 'quorum' | 'primary' | 'local'
  /** The moment, on the clock of `performance`, in milliseconds. */
  readonly since: number
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

/** Of what no record decides, but the rename itself. */
export const DECIDED_BY_RENAME: Decision = {
  complete: () => undefined,
  withdraw: async () => undefined,
  keep: () => false,
}

/**
 * A folder that does not have everything yet. What it has is as fresh as it ever is, and what is asked for by a name comes before its turn.
 */
export interface Filling {
  /** How many repositories are in it, of how many; and why no more come at the moment, in a sentence. */
  progress(): FillProgress
  /** Resolves once everything is in it. */
  readonly whole: Promise<void>
  /**
   * Sees to it that the repositories of a project that have a name (see NameClaim) are in the folder, and answers their paths relative to the
   * store, also of those that lie in the trash.
   */
  bring(project: string, name: string): Promise<readonly string[]>
}

export interface FillProgress {
  readonly there: number
  readonly of: number
  readonly problem?: string | undefined
}

/**
 * Decides whether a write happens: the one moment of truth of the write path, behind which the folder follows. For `Journal` the
 * folder itself is the truth; for the arbiter of servers that share a database it is their log.
 */
export interface Arbiter {
  /** What servers with folders of their own need; absent where the folder is the truth. */
  readonly elsewhere?: DecidedElsewhere
  /** What servers that share a folder need; absent where one server alone has the folder. */
  readonly shared?: SharedFolder
  /**
   * Resolves when these writes have happened, all of them, and survive a power cut; rejects if they cannot, and then none did. To be
   * called while their refs are locked; where a repository is moved, while it is fenced; where one is made, by who has the slugs. Throws
   * RefMoved where another server was faster, and NameClaimed where it took a name.
   */
  decide(writes: readonly DecidedWrite[], beside?: DecidedBeside): Promise<Decision>
  /** Syncs what is decided, and in the folder only for the time being, to where it belongs. */
  checkpoint(): Promise<void>
  /** Puts right what the folder may have lost while it was away; nobody uses it meanwhile. */
  afterReturn(): Promise<void>
  /** After the last write and the last read. */
  close(): Promise<void>
}

/** What is decided outside the folder, which is a copy then. */
export interface DecidedElsewhere {
  /** Absent where everything is in the folder. */
  readonly filling?: Filling | undefined
  /**
   * Decides about a repository that lies on the disk already, whole, and is about to get its name, in the place of another one or of none:
   * where the folder is the truth, its rename decides.
   */
  admit(write: DecidedWrite): Promise<Decision>
  /**
   * Takes the bytes of packs that a decision will name, before anything is locked for it, and answers what it shall call them. The same
   * object is taken once.
   */
  stageLarge(packs: readonly LargePack[]): Promise<readonly string[]>
  /** What these repositories are now; what is read in the folder afterwards is at least as new. */
  seen(gitdirs: readonly string[]): Promise<Seen>
  /** Whether the repository of this folder was removed for good, and the folder itself may not remember it. */
  wasPurged(gitdir: string): Promise<boolean>
  /** Resolves once everything that was acknowledged anywhere before the call is in the folder. */
  fresh(): Promise<void>
  /** The same as far as a read wants it, and how far that is. */
  readable(): Promise<Freshness>
}

/** What other servers that use the same folder left in it. */
export interface SharedFolder {
  /**
   * Finishes what a dead process decided: before one of its locks, which keep others from what is left to do, is taken
   * over.
   */
  readonly finishFor: BeforeTakeOver
  /**
   * Resolves once no decision tells any more that the repository was made: from then on nobody makes it again. Refuses with `locked` if
   * that takes too long.
   */
  untilSettled(gitdir: string): Promise<void>
  /** The notes of decisions that are in no file of their own yet. */
  notes(): readonly string[]
}
