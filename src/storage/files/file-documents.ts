import { randomBytes } from 'node:crypto'
import { basename, dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import { createDurableFolder } from './durable-folder.ts'
import { type Fs, OWNER_ONLY } from './fs.ts'
import type { HeldLock } from './lock-file.ts'
import { endDeadLock, holdingLock, isLockHeld, sweepDeadLocks, LockFile } from './lock-file.ts'
import type { AbandonedLease, Changed, Documents, HowToLease, HowToPut, Lease } from './documents.ts'

/** The documents of a store: shared ones if the file system has them, else files of the folder. */
export function documentsOf(fs: Fs): Documents {
  return fs.documents ?? new FileDocuments(fs)
}

/**
 * Documents as plain files of one folder, shared by the servers of one host. Leases are lock files in git's protocol, and end with the
 * process that holds them.
 */
export class FileDocuments implements Documents {
  readonly isAlwaysDurable = false
  readonly #fs: Fs
  /** Folders that are known to be on the disk. */
  readonly #folders = new Set<string>()

  constructor(fs: Fs) {
    this.#fs = fs
  }

  async update<T>(
    path: string,
    change: (before: Buffer | undefined) => Changed<T> | Promise<Changed<T>>,
    { lease = withoutEnding(path), ...how }: HowToPut & { readonly lease?: string } = {},
  ): Promise<T> {
    await this.#ensureFolder(dirname(path))
    return this.lease(lease, async () => {
      const { bytes, answer } = await change(this.#fs.readFile(path))
      if (bytes) await this.put(path, bytes, how)
      return answer
    })
  }

  async create(path: string, bytes: Uint8Array, { mode = OWNER_ONLY }: HowToPut = {}): Promise<boolean> {
    await this.#ensureFolder(dirname(path))
    const temporary = `${path}.${randomBytes(6).toString('hex')}`
    await this.#fs.createSynced(temporary, bytes, mode)
    const isFirst = this.#link(temporary, path)
    await this.#fs.syncDir(dirname(path))
    return isFirst
  }

  /** Uses a link, because a rename would replace an existing file. */
  #link(temporary: string, path: string): boolean {
    try {
      this.#fs.link(temporary, path)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // Fs throws node's errors
      return false
    } finally {
      this.#fs.remove(temporary)
    }
  }

  async put(
    path: string,
    bytes: Uint8Array,
    { mode = OWNER_ONLY, mayBeLost = false }: HowToPut = {},
  ): Promise<void> {
    await this.#ensureFolder(dirname(path))
    const temporary = `${path}.new`
    this.#fs.remove(temporary) // left by a process that died while writing
    await this.#fs.createSynced(temporary, bytes, mode)
    this.#fs.rename(temporary, path)
    if (!mayBeLost) await this.#fs.syncDir(dirname(path))
  }

  async append(
    path: string,
    bytes: Uint8Array,
    { mayBeLost = false }: Pick<HowToPut, 'mayBeLost'> = {},
  ): Promise<void> {
    this.#fs.append(path, bytes)
    if (!mayBeLost) await this.#fs.sync(path)
  }

  async remove(path: string): Promise<void> {
    this.#fs.remove(path)
  }

  lease<T>(
    path: string,
    work: (lease: Lease) => Promise<T>,
    { beforeTakeOver }: HowToLease = {},
  ): Promise<T> {
    const inside = (): Promise<T> => work(this.#held())
    return holdingLock(this.#fs, dirname(path), basename(path), inside, beforeTakeOver)
  }

  async leaseIfFree<T>(path: string, work: (lease: Lease) => Promise<T>): Promise<T | undefined> {
    const lock = await this.#lockIfFree(path)
    return lock && work(this.#held()).finally(() => lock.release())
  }

  async #lockIfFree(path: string): Promise<HeldLock | undefined> {
    const [folder, lock] = [dirname(path), `${path}.lock`]
    if (this.#fs.stat(lock)) await endDeadLock(this.#fs, folder, path)
    if (this.#fs.stat(lock)) return undefined
    try {
      return await new LockFile(this.#fs, folder, '').acquire(lock)
    } catch (error) {
      // Another process was faster.
      if (error instanceof Refusal && error.code === 'locked') return undefined
      throw error
    }
  }

  async leased(folder: string): Promise<readonly string[]> {
    const names = this.#fs.readDir(folder) ?? []
    return names.flatMap((name) => (name.endsWith('.lock') ? [name.slice(0, -'.lock'.length)] : []))
  }

  async abandoned(): Promise<readonly AbandonedLease[]> {
    return []
  }

  async isLeased(path: string): Promise<boolean> {
    return isLockHeld(this.#fs, dirname(path), basename(path))
  }

  sweepLeases(folder: string, { beforeTakeOver }: Pick<HowToLease, 'beforeTakeOver'> = {}): Promise<void> {
    return sweepDeadLocks(this.#fs, folder, [folder], beforeTakeOver)
  }

  /** A lock file is held as long as its process lives. */
  #held(): Lease {
    return {
      signal: new AbortController().signal,
      put: (path, bytes, how) => this.put(path, bytes, how),
      append: (path, bytes, how) => this.append(path, bytes, how),
      remove: (path) => this.remove(path),
      abandon: () => undefined,
    }
  }

  async #ensureFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder) && this.#fs.stat(folder)) return
    await createDurableFolder(this.#fs, folder)
    this.#folders.add(folder)
  }
}

function withoutEnding(path: string): string {
  return path.slice(0, path.lastIndexOf('.'))
}
