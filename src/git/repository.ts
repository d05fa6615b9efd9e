import type { Fs } from './fs.ts'
import { History } from './history.ts'
import { ObjectStore } from './object-store.ts'
import type { PackCache } from './pack-cache.ts'
import type { RefSnapshot } from './refs.ts'
import { RefReader } from './refs.ts'
import type { TransactionJob } from './transaction.ts'
import { RepositoryWriter } from './transaction.ts'

/**
 * One bare git repository: the whole of what the rooms above know of git's disk. Reads see what any git did to it; writes
 * go through one queue and git's own locks.
 */
export class Repository {
  readonly path: string
  readonly objects: ObjectStore
  readonly history: History
  readonly #refs: RefReader
  readonly #writer: RepositoryWriter

  constructor(fs: Fs, path: string, packs: PackCache) {
    this.path = path
    this.objects = new ObjectStore(fs, path, packs)
    this.#refs = new RefReader(fs, path)
    this.history = new History(fs, path, this.objects)
    this.#writer = new RepositoryWriter(fs, path, this.objects, this.#refs)
  }

  /** The refs as they are now; the same object as long as nothing moved. */
  refs(): RefSnapshot {
    return this.#refs.snapshot()
  }

  /** Runs a write; see RepositoryWriter. */
  transact<T>(job: TransactionJob<T>): Promise<T> {
    return this.#writer.run(job)
  }
}
