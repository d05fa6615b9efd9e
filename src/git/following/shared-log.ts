import type { TableFeed } from '../../storage/documents/document-table.ts'
import type { FolderMove } from '../trash/folder-move.ts'
import type { DecidedMove, NameClaim } from '../transactions/arbiter.ts'

/**
 * The log that several servers share, each of which has a folder of its own that follows it: a database, or for tests a part of the memory.
 * What is in it has happened. Each server appends to a stream of its own and numbers its batches without gaps, so the positions of all
 * streams say exactly what a folder lacks.
 */
export interface SharedLog {
  /** Of the database: a folder is a copy of one. */
  readonly id: string
  /** The stream that this server appends to. */
  readonly stream: string
  /** How a look makes sure that what it sees is so; with `local` not each read looks. */
  readonly reads: Reads
  /** Whether there may have been a hint (see onNews) since the last look began. */
  readonly hasNews: boolean
  /**
   * Appends a batch, the next one of the stream: each proposal happens as a whole or is refused by itself. Resolves when what was decided
   * survives a power cut. Batches come one after the other. Rejects with a Refusal where it cannot be found out what became of it.
   */
  append(proposals: readonly Proposal[]): Promise<AppendedBatch>
  /** Where the streams are now: everything acknowledged before the call is at or before these. */
  look(): Promise<Look>
  /** What lies between two looks (behind `from`, up to `to`), in any order. Throws NotInLog where that was forgotten. */
  read(from: Positions, to: Positions): Promise<readonly LogEntry[]>
  /**
   * The bytes of a pack of a repository, in pieces; undefined where it has none of that name any more. A piece that is gone meanwhile is a
   * NotInLog.
   */
  readPack(repository: string, name: string): Promise<AsyncIterable<Buffer> | undefined>
  /** The bytes of packs of a repository, by their names; large ones are left out. */
  smallPacks(repository: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /** Takes a pack in before a proposal names it, and answers what proposals call it. */
  stagePack(name: string, pieces: AsyncIterable<Buffer>): Promise<string>
  /** The versions of these repositories now; those that are not there are left out. */
  versions(repositories: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** What these repositories are now. Those that are not there are left out. */
  states(repositories: readonly string[]): Promise<ReadonlyMap<string, RepositoryState>>
  /** What the next repositories behind this one are now, in the order of their names, so many at most; none at the end. */
  statesBehind(repository: string, most: number): Promise<ReadonlyMap<string, RepositoryState>>
  /** Whether there was such a repository, and it was removed for good. */
  wasPurged(repository: string): Promise<boolean>
  /** How many repositories there are. */
  count(): Promise<number>
  /** The repositories of a project that have a name (see NameClaim), in the trash too. */
  named(project: string, name: string): Promise<readonly string[]>
  /** What lies outside repositories. */
  readonly documents: TableFeed
  /** Calls the listener when another server may have appended something. It is a hint: some are missed, some are for nothing. */
  onNews(listener: () => void): void
  close(): Promise<void>
}

/** What READS says: see docs/configuration.md. */
export type Reads = 'quorum' | 'primary' | 'local'

/** Opens the log for a folder, which has a stream of its own in it; for a new folder a new one. */
export type OpenLog = (stream: string | undefined) => Promise<SharedLog>

/** How far a stream is: how many batches, and a sign of the last one that no other batch has. */
export interface StreamPosition {
  readonly n: number
  readonly mark: string
}

/** The log does not have any more what is asked of it: a repository, or all of them, has to be taken over as it is now. */
export class NotInLog extends Error {
  override readonly name = 'NotInLog'
}

/** Undefined where the log has not all of it any more that is asked. */
export async function unlessForgotten<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof NotInLog) return undefined
    throw error
  }
}

/** What one question to the log answers. */
export interface Look {
  /** When it was asked for, on the clock of `performance`, in milliseconds. */
  readonly asked: number
  /** Another number whenever a document changed. */
  readonly documents: number
  readonly positions: Positions
  /** Another one after a failover, which may have lost what nobody was told of. */
  readonly era: string
}

/** By stream. One that is not there is at 0. */
export type Positions = ReadonlyMap<string, StreamPosition>

/** What a server asks to have happen. */
export interface Proposal {
  readonly writes: readonly ProposedWrite[]
  /** Repositories that have to be there. */
  readonly needs: readonly string[]
  /** The versions that repositories have to be of still. */
  readonly seen: ReadonlyMap<string, number>
  readonly moved?: FolderMove | undefined
  readonly purged?: LoggedPurge | undefined
  /** Paths of empty documents that are made with it. */
  readonly notes: readonly string[]
}

/** Repositories are named by their folders relative to the store, wherever they are: in the trash they keep that name. */
export interface ProposedWrite {
  readonly repository: string
  readonly moves: readonly DecidedMove[]
  readonly pack?: { readonly name: string; readonly bytes: Buffer } | undefined
  /** What `stagePack` answered. */
  readonly staged: readonly string[]
  /** The branch that HEAD of a new repository names; absent in one that is there. */
  readonly head?: string | undefined
  readonly claims: readonly NameClaim[]
}

/** A repository that goes for good. */
export interface LoggedPurge {
  readonly repository: string
  readonly isRemembered: boolean
}

/** What became of a batch: its place in the stream, and of each proposal the versions that its writes made, or why it was refused. */
export interface AppendedBatch {
  readonly position: StreamPosition
  readonly outcomes: readonly Outcome[]
}

/** `moved`: something is not what was expected any more. `claimed`: a name is taken. */
export type Outcome =
  { readonly versions: readonly number[] } | { readonly refused: 'moved' | 'claimed'; readonly what: string }

/** A decision as it is read. */
export interface LogEntry {
  readonly stream: string
  readonly n: number
  readonly item: number
  readonly writes: readonly LoggedWrite[]
  /** With the version that the repository came to by it. */
  readonly moved?: (FolderMove & { readonly version: number }) | undefined
  readonly purged?: (LoggedPurge & { readonly version: number }) | undefined
}

export interface LoggedWrite {
  readonly repository: string
  /** Counts what happened to the repository, its creation being the first. */
  readonly version: number
  readonly moves: readonly DecidedMove[]
  readonly packs: readonly LoggedPack[]
  readonly head?: string | undefined
}

/** A pack of an entry; a large one without its bytes. */
export interface LoggedPack {
  readonly name: string
  readonly bytes?: Buffer | undefined
}

/** A repository as the log has it now. */
export interface RepositoryState {
  readonly version: number
  /** The stamp of the removal (see FolderMove) where it lies in the trash. */
  readonly trashed?: string | undefined
  readonly head: string
  readonly refs: ReadonlyMap<string, string>
  readonly packs: readonly string[]
}
