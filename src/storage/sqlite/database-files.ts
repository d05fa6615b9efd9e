import { chmodSync, existsSync, statSync } from 'node:fs'
import Database from 'libsql'
import { nodeFs } from '../node-fs.ts'
import type { DatabaseFile } from './database-file.ts'
import { inodesOf } from './database-file.ts'
import { BrokenGuard, isDamage, OtherFile } from './sqlite-errors.ts'

/** Another process may remove the file meanwhile; what is written to it then is lost. */
const MAX_OPENS = 5

/** What SQLite has beside an open file. */
const LOG_PARTS = ['-wal', '-shm'] as const

/** The SQLite files of one kind that a thread has open, by path. */
export class DatabaseFiles<T extends DatabaseFile> {
  readonly #make: (path: string) => T
  readonly #busyMs: number
  readonly #open = new Map<string, T>()

  /** `make` opens a file; who wants to open or move one waits `busyMs` milliseconds for another who does. */
  constructor(make: (path: string) => T, busyMs: number) {
    this.#make = make
    this.#busyMs = busyMs
  }

  /** The file, made if need be. One that was moved or removed meanwhile is left to itself. */
  writable(path: string): T {
    const known = this.#open.get(path)
    if (known?.isCurrent) return known
    this.forget(path)
    const opened = this.#alone(path, () => this.#makeThere(path))
    this.#open.set(path, opened)
    return opened
  }

  /** The file that another thread has open as `inodes`. Throws an OtherFile, and touches nothing, where another one lies there. */
  same(path: string, inodes: string): T {
    if (inodesOf(path) !== inodes) throw new OtherFile(path)
    const known = this.#open.get(path)
    if (known?.inodes === inodes) return known
    this.forget(path)
    const opened = this.#alone(path, () => this.#make(path))
    if (opened.inodes !== inodes) {
      opened.close()
      throw new OtherFile(path)
    }
    this.#open.set(path, opened)
    return opened
  }

  /** The file, or undefined where nothing was ever written. */
  readable(path: string): T | undefined {
    if (nodeFs.stat(path)) return this.writable(path)
    this.forget(path)
    return undefined
  }

  /** Whether what lies under the path is not what is open. */
  wasReplaced(path: string): boolean {
    return this.#open.get(path)?.isCurrent === false
  }

  /** Removes a file that can be made again, if it has lost its log (see DatabaseFile.isTorn). One that cannot be removed stays. */
  removeTorn(file: T): void {
    const { path } = file
    this.#alone(path, () => {
      if (!file.isTorn) return
      try {
        nodeFs.remove(path)
        removeParts(path)
      } catch {
        // Whoever opens it next says what is wrong.
      }
    })
  }

  /** Closes all of them. */
  close(): void {
    for (const path of [...this.#open.keys()]) this.forget(path)
  }

  /** Closes the file. */
  forget(path: string): void {
    this.#open.get(path)?.close()
    this.#open.delete(path)
  }

  /** Tries again where somebody removes it while it is opened. */
  #makeThere(path: string): T {
    for (let tries = 1; ; tries++) {
      beginIfAbsent(path)
      closeToOthers(path)
      try {
        const file = this.#make(path)
        if (file.isCurrent || tries === MAX_OPENS) return file
        file.close()
      } catch (error) {
        if (nodeFs.stat(path) || tries === MAX_OPENS) throw error
      }
    }
  }

  /**
   * Renames a file that is no database, so that a new one can take its place and nothing is lost that somebody may still read.
   * Answers where it is; undefined if another process did it before, or no page is damaged and the caller is not sure that the file is.
   */
  setAside(path: string, isSure = false): string | undefined {
    const wasReplaced = this.wasReplaced(path)
    this.forget(path)
    if (wasReplaced) return undefined
    // Of two who found the damage, the second finds what has taken the file's place.
    return this.#alone(path, () => {
      const isThere = nodeFs.stat(path) !== undefined
      return isThere && (isSure || this.#isDamaged(path)) ? rename(path) : undefined
    })
  }

  /** Looks at every page; a file is not moved away for an error that is over. */
  #isDamaged(path: string): boolean {
    try {
      const file = this.#make(path)
      try {
        const [row] = file.rows<{ readonly quick_check?: string }>('PRAGMA quick_check(1)')
        return row?.quick_check !== 'ok'
      } finally {
        file.close()
      }
    } catch (error) {
      return isDamage(error)
    }
  }

  /**
   * Keeps other threads and processes from opening the file or setting it aside: its parts move one by one, and what begins a new file
   * between two of them would lose its own. The lock is SQLite's, on a file with nothing in it, and ends with its holder.
   */
  #alone<R>(path: string, work: () => R): R {
    const guard = `${path}.guard`
    const lock = new Database(guard, { timeout: this.#busyMs })
    try {
      begin(lock, guard)
      return work()
    } finally {
      lock.close()
    }
  }
}

/**
 * Makes an empty file where none is. What lies beside it still belongs to one that was removed, and may be open: SQLite would take its log
 * and its shared memory for those of the new file, and whoever has the old one open would read the new one's pages. A file that is
 * there is not opened: closing it would end the locks that this process has of it.
 */
function beginIfAbsent(path: string): void {
  // Of a link, what it leads to.
  if (existsSync(path)) return
  try {
    removeParts(path)
    nodeFs.append(path, NO_BYTES)
  } catch {
    // SQLite says what is wrong.
  }
}

/** Earlier versions made the file as the umask said. SQLite gives its log the permissions of the file. */
function closeToOthers(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch {
    // It is gone again, or belongs to another user, who may have meant it so.
  }
}

const NO_BYTES = Buffer.alloc(0)

function removeParts(path: string): void {
  for (const part of LOG_PARTS) if (nodeFs.stat(path + part)) nodeFs.remove(path + part)
}

function begin(lock: Database.Database, guard: string): void {
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    // Of itself, or the file that it guards would be taken for damaged.
    throw isDamage(error) ? new BrokenGuard(guard) : error
  }
}

function rename(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  nodeFs.rename(path, aside)
  for (const part of LOG_PARTS) if (nodeFs.stat(path + part)) nodeFs.rename(path + part, aside + part)
  return aside
}
