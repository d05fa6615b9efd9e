import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { DerivedFile } from './derived-file.ts'
import type { Fs } from './fs.ts'
import type { Journal, JournalEntry } from './journal.ts'
import type { GitObject, ObjectKind, Oid } from './object.ts'
import { hashObject } from './object.ts'
import type { ObjectStore } from './object-store.ts'
import type { PackableObject } from './pack-writer.ts'
import type { RefMove } from './ref-update.ts'
import { moveRefs, RefMoved } from './ref-update.ts'
import type { RefReader } from './refs.ts'
import type { StagedPack } from './stage-pack.ts'
import { stagePack } from './stage-pack.ts'

/** What a write sees and does: refs as they are now plus what it has moved itself, objects it can read and add. */
export interface Transaction {
  ref(name: string): Oid | undefined
  /** Every ref that starts with the prefix, with its own moves applied. */
  refs(prefix: string): ReadonlyMap<string, Oid>
  read(oid: Oid): Promise<GitObject | undefined>
  /** Adds an object; it reaches the disk with the transaction, before any ref that needs it. */
  write(kind: ObjectKind, bytes: Buffer): Oid
  /**
   * Makes the objects of a pack that is staged in this repository, and on the disk, part of the write. It stays its maker's to
   * discard when the write fails.
   */
  adopt(pack: StagedPack): void
  /** A derived file of the repository, which is no part of the write. */
  derived(name: string): DerivedFile
  /** Moves the ref that decides whether the operation happened. */
  move(ref: string, target: Oid): void
  /** Moves a ref that follows from one that was moved (or points HEAD at a branch, as `ref: refs/heads/<branch>`). */
  follow(ref: string, target: string): void
}

/** A write: computes what to store from what is. It may run again if another writer was faster, so it keeps no state. */
export type TransactionJob<T> = (transaction: Transaction) => Promise<T>

/** So many jobs share one pack and one move of their refs at most. */
const BATCH = 64
/** How often a batch is worked out anew because another process moved a ref first. */
const ATTEMPTS = 200

/**
 * The one door to a repository's disk. Jobs take turns; those that wait together are worked out one after the other,
 * each on top of the last, and reach the disk together: objects as one synced pack, then the refs. A job that throws
 * stores nothing and disturbs no other.
 */
export class RepositoryWriter {
  readonly #fs: Fs
  readonly #gitdir: string
  readonly #objects: ObjectStore
  readonly #refs: RefReader
  readonly #journal: Journal
  #queue: Entry[] = []
  #running = false

  constructor(fs: Fs, gitdir: string, objects: ObjectStore, refs: RefReader, journal: Journal) {
    this.#journal = journal
    this.#fs = fs
    this.#gitdir = gitdir
    this.#objects = objects
    this.#refs = refs
  }

  /** Runs the job and resolves with its result once everything it stored is on the disk. */
  run<T>(job: TransactionJob<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // The queue holds jobs of every result type; each entry's own closure keeps its type.
      this.#queue.push({ job, resolve: resolve as (value: unknown) => void, reject })
      if (!this.#running) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#running = true
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH)
      try {
        await this.#runBatch(batch)
      } catch (error) {
        if (batch.length > 1 && error instanceof Refusal && error.code === 'slug_taken') {
          // One of them asked for a ref that cannot be; on their own, the others go through.
          for (const entry of batch) await this.#runBatch([entry]).catch(entry.reject)
        } else for (const entry of batch) entry.reject(error)
      }
    }
    this.#running = false
  }

  async #runBatch(batch: readonly Entry[]): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      // Seen in this turn is good enough to begin with: under the locks everything is compared afresh.
      const refs = attempt === 1 ? this.#refs.shared() : this.#refs.snapshot()
      const derived = (name: string) => new DerivedFile(this.#fs, `${this.#gitdir}/${name}`)
      const draft = new Draft(refs.refs, this.#objects, derived)
      const settled: (() => void)[] = []
      for (const entry of batch) {
        const own = new Draft(draft, this.#objects, derived)
        try {
          const result = await entry.job(own)
          draft.absorb(own)
          settled.push(() => entry.resolve(result))
        } catch (error) {
          settled.push(() => entry.reject(error))
        }
      }
      try {
        await this.#flush(draft)
      } catch (error) {
        if (!(error instanceof RefMoved)) throw error
        await pause(Math.random() * Math.min(attempt, 20))
        continue
      }
      for (const settle of settled) settle()
      return
    }
    throw new Refusal(
      'locked',
      `${this.#gitdir}: other writers moved the same refs ${ATTEMPTS} times in a row. Try again in a moment.`,
    )
  }

  async #flush(draft: Draft): Promise<void> {
    const moves = draft.moves()
    if (moves.length === 0) return
    // Also what the repository has already: a copy in the newest pack cannot be pruned, and costs less than looking for it.
    const pack = await stagePack(this.#fs, this.#gitdir, draft.objects())
    try {
      await this.#moveRefs(moves, pack, draft.packs())
    } catch (error) {
      pack.discard()
      throw error
    }
    pack.release()
    this.#objects.remember(draft.objects())
  }

  /** The moment of truth is the journal's sync: before it nothing happened, after it everything did. */
  async #moveRefs(
    moves: readonly RefMove[],
    pack: StagedPack,
    adopted: readonly StagedPack[],
  ): Promise<void> {
    let entry: JournalEntry | undefined
    const decide = async (): Promise<JournalEntry> => {
      const { name, unsynced } = pack
      for (const synced of unsynced || name === undefined ? adopted : [pack, ...adopted]) {
        synced.publish()
        await synced.syncNames()
      }
      const decided = this.#journal.append({
        gitdir: this.#gitdir,
        moves: moves.map(({ ref, expected, target }) => ({ ref, expected, target })),
        ...(name !== undefined && unsynced ? { pack: { name, ...unsynced } } : {}),
      })
      // Making files takes about as long as the journal's sync, which runs in another thread.
      const staging = attempt(() => pack.stage())
      const made = await decided
      try {
        staging()
        if (unsynced) pack.publish()
      } catch (error) {
        await made.withdraw()
        throw error
      }
      return (entry = made)
    }
    try {
      await moveRefs(this.#fs, this.#gitdir, this.#refs, moves, decide)
    } finally {
      entry?.settle()
    }
    for (const synced of adopted) synced.release()
  }
}

/** Does it now; what it threw is thrown when the result is asked for. */
function attempt(work: () => void): () => void {
  try {
    work()
    return () => undefined
  } catch (error) {
    return () => {
      throw error
    }
  }
}

interface Entry {
  readonly job: TransactionJob<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Refs and objects on top of a base (the disk, or the drafts of earlier jobs of the batch). */
class Draft implements Transaction {
  readonly derived: (name: string) => DerivedFile
  readonly #base: ReadonlyMap<string, Oid> | Draft
  readonly #store: ObjectStore
  readonly #moves = new Map<string, string>()
  readonly #following = new Set<string>()
  readonly #objects = new Map<Oid, PackableObject>()
  readonly #packs = new Set<StagedPack>()

  constructor(
    base: ReadonlyMap<string, Oid> | Draft,
    store: ObjectStore,
    derived: (name: string) => DerivedFile,
  ) {
    this.#base = base
    this.#store = store
    this.derived = derived
  }

  ref(name: string): Oid | undefined {
    return (
      this.#moves.get(name) ?? (this.#base instanceof Draft ? this.#base.ref(name) : this.#base.get(name))
    )
  }

  refs(prefix: string): ReadonlyMap<string, Oid> {
    const below = this.#base instanceof Draft ? this.#base.refs(prefix) : this.#base
    return new Map([...below, ...this.#moves].filter(([name]) => name.startsWith(prefix)))
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    const pending = this.#objects.get(oid)
    if (pending) return pending
    return this.#base instanceof Draft ? this.#base.read(oid) : this.#store.read(oid)
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { oid, kind, bytes })
    return oid
  }

  adopt(pack: StagedPack): void {
    this.#packs.add(pack)
  }

  move(ref: string, target: Oid): void {
    this.#moves.set(ref, target)
    this.#following.delete(ref)
  }

  follow(ref: string, target: string): void {
    if (!this.#moves.has(ref)) this.#following.add(ref)
    this.#moves.set(ref, target)
  }

  /** Takes over what a finished job did. */
  absorb(job: Draft): void {
    for (const [oid, object] of job.#objects) this.#objects.set(oid, object)
    for (const pack of job.#packs) this.#packs.add(pack)
    for (const [ref, target] of job.#moves) {
      if (job.#following.has(ref)) this.follow(ref, target)
      else this.move(ref, target)
    }
  }

  objects(): readonly PackableObject[] {
    return [...this.#objects.values()]
  }

  packs(): readonly StagedPack[] {
    return [...this.#packs]
  }

  moves(): RefMove[] {
    const base = this.#base
    return [...this.#moves].map(([ref, target]) => ({
      ref,
      expected: base instanceof Draft ? base.ref(ref) : base.get(ref),
      target,
      follows: this.#following.has(ref),
    }))
  }
}
