import { CacheFile } from '../../storage/cache-file.ts'
import type { Fs } from '../../storage/fs.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import { type GitObject, type ObjectKind, type Oid, hashObject } from '../objects/object.ts'
import type { PackableObject, StagedPack } from '../packs/pack-writer.ts'
import type { SequentialPackReader } from '../packs/sequential-pack-reader.ts'
import type { RefMove } from '../refs/ref-move.ts'
import { NOTES_FOLDER } from '../refs/ref-store.ts'
import type { RefReader, RefSnapshot } from '../refs/ref-store.ts'
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

/** Where a repository keeps what is written to it. */
export interface RepositoryDisk {
  readonly fs: Fs
  readonly gitdir: string
  readonly objects: ObjectDatabase
  readonly refs: RefReader
}

/** What a draft is worked out on: what is stored, or the draft of the jobs before. */
interface DraftBase {
  ref(name: string): Oid | undefined
  refs(prefix: string): ReadonlyMap<string, Oid>
  /** An object that is in no repository yet. */
  drafted(oid: Oid): PackableObject | undefined
}

/** The refs that are stored: those of one look, and those in `refs/notes`, which are looked at when they are asked for, once. */
export class StoredRefs implements DraftBase {
  readonly #all: ReadonlyMap<string, Oid>
  readonly #reader: RefReader
  readonly #asked = new Map<string, Oid | undefined>()

  constructor({ refs }: RefSnapshot, reader: RefReader) {
    this.#all = refs
    this.#reader = reader
  }

  ref(name: string): Oid | undefined {
    if (!name.startsWith(`${NOTES_FOLDER}/`)) return this.#all.get(name)
    if (!this.#asked.has(name)) this.#asked.set(name, this.#reader.current(name))
    return this.#asked.get(name)
  }

  refs(): ReadonlyMap<string, Oid> {
    return this.#all
  }

  drafted(): undefined {
    return undefined
  }
}

/** What is to be written to a repository: refs and objects on top of a base. */
export class Draft implements Transaction, DraftBase {
  readonly objects = new Map<Oid, PackableObject>()
  /** Staged already, and on the disk. */
  readonly packs = new Set<StagedPack>()
  readonly notes: DecisionNote[] = []
  readonly claims: NameClaim[] = []
  /** What has to hold when the write is decided … */
  readonly required: (() => boolean)[] = []
  /** … and folders of repositories that have to be there. */
  readonly needs: string[] = []
  readonly #disk: RepositoryDisk
  readonly #base: DraftBase
  readonly #moved = new Map<string, string | undefined>()
  readonly #following = new Set<string>()

  constructor(disk: RepositoryDisk, base: DraftBase) {
    this.#disk = disk
    this.#base = base
  }

  ref(name: string): Oid | undefined {
    return this.#moved.has(name) ? this.#moved.get(name) : this.#base.ref(name)
  }

  refs(prefix: string): ReadonlyMap<string, Oid> {
    const refs = new Map<string, Oid>()
    for (const [name, target] of [...this.#base.refs(prefix), ...this.#moved]) {
      if (!name.startsWith(prefix)) continue
      if (target === undefined) refs.delete(name)
      else refs.set(name, target)
    }
    return refs
  }

  drafted(oid: Oid): PackableObject | undefined {
    return this.objects.get(oid) ?? this.#base.drafted(oid)
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.drafted(oid) ?? this.#disk.objects.read(oid)
  }

  async readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<(GitObject | undefined)[]> {
    const drafted = oids.map((oid) => this.drafted(oid))
    const others = oids.filter((_, index) => !drafted[index])
    const stored = (await this.#disk.objects.readMany(others, run, enough)).values()
    const objects: (GitObject | undefined)[] = []
    for (const own of drafted) {
      const next = own ? { value: own } : stored.next()
      if (next.done) break
      objects.push(next.value)
    }
    return objects
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.objects.set(oid, { oid, kind, bytes })
    return oid
  }

  adopt(pack: StagedPack): void {
    this.packs.add(pack)
  }

  require(holds: () => boolean, repository?: string): void {
    this.required.push(holds)
    if (repository !== undefined) this.needs.push(repository)
  }

  claim(claim: NameClaim): void {
    this.claims.push(claim)
  }

  note(note: DecisionNote): void {
    this.notes.push(note)
  }

  cacheFile(name: string): CacheFile {
    return new CacheFile(this.#disk.fs, `${this.#disk.gitdir}/${name}`)
  }

  move(ref: string, target: Oid): void {
    this.#moved.set(ref, target)
    this.#following.delete(ref)
  }

  setDerivedRef(ref: string, target: string | undefined): void {
    if (!this.#moved.has(ref)) this.#following.add(ref)
    this.#moved.set(ref, target)
  }

  removeDerivedRef(ref: string): void {
    this.setDerivedRef(ref, undefined)
  }

  /** Takes over what a finished job did, which was worked out on top of this. */
  merge(job: Draft): void {
    for (const [oid, object] of job.objects) this.objects.set(oid, object)
    for (const pack of job.packs) this.packs.add(pack)
    for (const note of job.notes) this.notes.push(note)
    for (const required of job.required) this.required.push(required)
    for (const claim of job.claims) this.claims.push(claim)
    for (const need of job.needs) this.needs.push(need)
    for (const [ref, target] of job.#moved) {
      if (target === undefined || job.#following.has(ref)) this.setDerivedRef(ref, target)
      else this.move(ref, target)
    }
  }

  /** Every ref that was moved, and whence; none if all that was asked for is to delete what is not there. */
  moves(): RefMove[] {
    const moves = [...this.#moved].map(([ref, target]) => {
      return { ref, expected: this.#base.ref(ref), target, follows: this.#following.has(ref) }
    })
    return moves.some(({ expected, target }) => expected !== undefined || target !== undefined) ? moves : []
  }
}

/** A draft that nobody will store, and which refs it was worked out on. */
export class TrialDraft extends Draft implements Trial {
  readonly #seen = new Map<string, Oid | undefined>()

  override ref(name: string): Oid | undefined {
    const target = super.ref(name)
    if (!this.#seen.has(name)) this.#seen.set(name, target)
    return target
  }

  isStillSo(transaction: Transaction): boolean {
    for (const [name, target] of this.#seen) if (transaction.ref(name) !== target) return false
    return true
  }
}
