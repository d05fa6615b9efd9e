import type { CacheFile } from '../../storage/files.ts'
import type { GitObject, ObjectKind, Oid } from '../objects/object.ts'
import type { StagedPack } from '../packs/pack-writer.ts'
import type { SequentialPackReader } from '../packs/sequential-pack-reader.ts'
import type { DecisionNote, NameClaim } from './arbiter.ts'

/** What a write sees and does: refs as they are now plus what it has moved itself, objects it can read and add. */
export interface Transaction {
  ref(name: string): Oid | undefined
  /** Every ref that starts with the prefix, with its own moves applied. */
  refs(prefix: string): ReadonlyMap<string, Oid>
  read(oid: Oid): Promise<GitObject | undefined>
  /** The same for many, in order; `run` and `enough` as the object store has them. */
  readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<(GitObject | undefined)[]>
  /** Adds an object; it reaches the disk with the transaction, before any ref that needs it. */
  write(kind: ObjectKind, bytes: Buffer): Oid
  /**
   * Makes the objects of a pack that is staged in this repository, and on the disk, part of the write: later writes can read them,
   * this one cannot. It stays its maker's to discard when the write fails.
   */
  adopt(pack: StagedPack): void
  /**
   * What must still hold when the write is decided: asked under its locks, and the write is worked out anew where it does not. What was
   * asked before may have changed since, in a repository that this write has no lock on. That repository, named by its folder, has to be
   * there for servers elsewhere, too.
   */
  require(holds: () => boolean, repository?: string): void
  /** Claims a name for the repository, if the write is decided. */
  claim(claim: NameClaim): void
  /** Leaves a note in the store, if the write is decided. */
  note(note: DecisionNote): void
  /** A derived file of the repository, which is no part of the write. */
  cacheFile(name: string): CacheFile
  /** Moves the ref that decides whether the operation happened. */
  move(ref: string, target: Oid): void
  /** Moves a ref that follows from one that was moved (or points HEAD at a branch, as `ref: refs/heads/<branch>`). */
  setDerivedRef(ref: string, target: string): void
  /** Deletes a ref that followed from one; no error if it is not there. */
  removeDerivedRef(ref: string): void
}

/** What a write would see and do, worked out outside of the queue of writes. Nothing of it is stored. */
export interface Trial extends Transaction {
  /** Whether all refs that were asked for are in the transaction as they were here: what was worked out here is right there, too. */
  isStillSo(transaction: Transaction): boolean
}

/** A write: computes what to store from what is. It may run again if another writer was faster, so it keeps no state. */
export type TransactionJob<T> = (transaction: Transaction) => Promise<T>
