import type { TableFeed } from '../documents/document-table.ts'
import type { FolderMove } from '../../git/trash.ts'
import type { DecidedMove, NameClaim } from '../../git/transactions.ts'

/**
 * The log that several servers share: a database, or memory in tests. Each server follows it in a folder of its own. What is in the log has
 * happened. Each server appends to its own stream and numbers its batches without gaps, so the positions of all streams tell what a folder
 * lacks.
 */
export interface SharedLog {
  /** The database's id; a folder is a copy of one database. */
  readonly id: string
  readonly stream: string
  /** How reads make sure that they are current; with `local` not every read looks. */
  readonly reads: Reads
  /** Whether a hint (see onNews) may have come since the last look began. */
  readonly hasNews: boolean
  /**
   * Appends the next batch of this stream: each proposal happens as a whole or is refused by itself. Resolves when the decided proposals
   * survive a power cut. Batches are appended one at a time. Rejects with a Refusal if the outcome cannot be found out.
   */
  append(proposals: readonly Proposal[]): Promise<AppendedBatch>
  /** The current positions: everything acknowledged before the call is at or before them. */
  look(): Promise<Look>
  /** The entries after `from` and up to `to`, in any order. Throws NotInLog if the log no longer has them. */
  read(from: Positions, to: Positions): Promise<readonly LogEntry[]>
  /**
   * The bytes of a repository's pack, in pieces; undefined if there is no such pack. Iteration throws NotInLog if a piece has gone meanwhile.
   */
  readPack(repository: string, name: string): Promise<AsyncIterable<Buffer> | undefined>
  /** The bytes of a repository's packs by name, without large ones. */
  smallPacks(repository: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /** Stores a pack before a proposal names it; answers the name for proposals. */
  stagePack(name: string, pieces: AsyncIterable<Buffer>): Promise<string>
  /** The current versions of these repositories, without those that do not exist. */
  versions(repositories: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** The current states of these repositories, without those that do not exist. */
  states(repositories: readonly string[]): Promise<ReadonlyMap<string, RepositoryState>>
  /** The current states of up to `most` repositories after this one, in the order of names; none at the end. */
  statesBehind(repository: string, most: number): Promise<ReadonlyMap<string, RepositoryState>>
  /** Whether the repository existed and was purged. */
  wasPurged(repository: string): Promise<boolean>
  /** The number of repositories. */
  count(): Promise<number>
  /** The repositories of a project that claim a name (see NameClaim), including those in the trash. */
  named(project: string, name: string): Promise<readonly string[]>
  /** Keys, secrets and other documents outside repositories. */
  readonly documents: TableFeed
  /**
   * Calls the listener when another server may have appended something. It is a hint: some appends give none, and some hints bring nothing
   * new.
   */
  onNews(listener: () => void): void
  close(): Promise<void>
}

/** The setting READS: see docs/configuration.md. */
export type Reads = 'quorum' | 'primary' | 'local'

/** Opens the log for the stream of a folder; with undefined, for a new folder, starts a new stream. */
export type OpenLog = (stream: string | undefined) => Promise<SharedLog>

/** A position in a stream: the number of batches, and a mark that only the last of them has. */
export interface StreamPosition {
  readonly n: number
  readonly mark: string
}

/** The log no longer has the requested data, so the repository, or all of them, must be copied in its current state. */
export class NotInLog extends Error {
  override readonly name = 'NotInLog'
}

/** The result; undefined if the log no longer has all of the requested data. */
export async function unlessForgotten<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof NotInLog) return undefined
    throw error
  }
}

/** The log's current state. */
export interface Look {
  /** When the look began, on the clock of `performance`, in milliseconds. */
  readonly asked: number
  /** Changes whenever a document changes. */
  readonly documents: number
  readonly positions: Positions
  /** Changes with a failover, which may have lost writes that were not acknowledged. */
  readonly era: string
}

/** Positions by stream. A stream that is absent is at 0. */
export type Positions = ReadonlyMap<string, StreamPosition>

/** A write that a server proposes. */
export interface Proposal {
  readonly writes: readonly ProposedWrite[]
  /** Repositories that must exist. */
  readonly needs: readonly string[]
  /** Versions that repositories must still have. */
  readonly seen: ReadonlyMap<string, number>
  readonly moved?: FolderMove | undefined
  readonly purged?: LoggedPurge | undefined
  /** Paths of empty documents that are created with it. */
  readonly notes: readonly string[]
}

/** Repositories are named by their paths relative to the store, and keep that name in the trash. */
export interface ProposedWrite {
  readonly repository: string
  readonly moves: readonly DecidedMove[]
  readonly pack?: { readonly name: string; readonly bytes: Buffer } | undefined
  /** The names that `stagePack` answered. */
  readonly staged: readonly string[]
  /** The branch that HEAD of a new repository names; absent for an existing one. */
  readonly head?: string | undefined
  readonly claims: readonly NameClaim[]
}

/** The permanent removal of a repository. */
export interface LoggedPurge {
  readonly repository: string
  readonly isRemembered: boolean
}

/** The outcome of a batch: its position, and for each proposal the versions that its writes made or why it was refused. */
export interface AppendedBatch {
  readonly position: StreamPosition
  readonly outcomes: readonly Outcome[]
}

/** `moved`: something is no longer as expected. `claimed`: a name is taken. */
export type Outcome =
  { readonly versions: readonly number[] } | { readonly refused: 'moved' | 'claimed'; readonly what: string }

/** A decision as read from the log. */
export interface LogEntry {
  readonly stream: string
  readonly n: number
  readonly item: number
  readonly writes: readonly LoggedWrite[]
  /** Has the version that the repository got by the move. */
  readonly moved?: (FolderMove & { readonly version: number }) | undefined
  readonly purged?: (LoggedPurge & { readonly version: number }) | undefined
}

export interface LoggedWrite {
  readonly repository: string
  /** Counts the changes of the repository; its creation is the first. */
  readonly version: number
  readonly moves: readonly DecidedMove[]
  readonly packs: readonly LoggedPack[]
  readonly head?: string | undefined
}

/** A pack of an entry; a large one has no bytes. */
export interface LoggedPack {
  readonly name: string
  readonly bytes?: Buffer | undefined
}

/** A repository's current state in the log. */
export interface RepositoryState {
  readonly version: number
  /** The stamp of the removal (see FolderMove) if it is in the trash. */
  readonly trashed?: string | undefined
  readonly head: string
  readonly refs: ReadonlyMap<string, string>
  readonly packs: readonly string[]
}
