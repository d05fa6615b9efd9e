import Database from 'libsql'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { nodeFs } from '../files/node-fs.ts'
import { BrokenGuard, isDamage, OtherFile } from './sqlite-errors.ts'

/** A connection to a file, for who prepares its tables. */
export type Connection = Database.Database

/** What the statements of a connection are given and give. */
export type SqlValue = string | number | null | Uint8Array

/** The path of a database that is in memory only. */
export const IN_MEMORY = ':memory:'

/**
 * An open SQLite file. Several threads and processes may have one open at once: its write-ahead log lets one write while the others
 * read.
 */
export class DatabaseFile {
  readonly path: string
  readonly #database: Connection
  /** What tells the file, as long as it is open, from any other that comes to lie in its place. */
  readonly inodes: string
  readonly #statements = new Map<string, Database.Statement<[readonly SqlValue[]]>>()
  #holders = 0
  #isClosed = false

  /**
   * Opens a file that is there, be it empty, and has `prepare` bring its tables about. A writer waits `busyMs` milliseconds for another
   * one. Throws what `isDamage` and `isStorageTrouble` know, and what `prepare` throws.
   */
  constructor(path: string, busyMs: number, prepare: (database: Connection) => void) {
    this.path = path
    this.#database = new Database(path === IN_MEMORY ? path : thatIsThere(path), { timeout: busyMs })
    try {
      prepare(this.#database)
      this.inodes = inodesOf(path)
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** Whether what lies under the path is still what was opened, with its log: nobody else would see what is written to another one. */
  get isCurrent(): boolean {
    return this.path === IN_MEMORY || (isThere(this.inodes) && inodesOf(this.path) === this.inodes)
  }

  /** Whether its log was taken away from beside it: what is left may be of two moments. */
  get isTorn(): boolean {
    return (
      !this.isCurrent &&
      isThere(this.inodes) &&
      inodesOf(this.path).split(' ')[0] === this.inodes.split(' ')[0]
    )
  }

  /** Keeps it open for somebody in the midst of reading, whoever closes it meanwhile; answers how to let go of it, once. */
  hold(): () => void {
    this.#holders++
    return () => {
      this.#holders--
      if (this.#isClosed) this.close()
    }
  }

  /** A statement, prepared once. Texts that differ with every question had better not be many. */
  statement(sql: string): Database.Statement<[readonly SqlValue[]]> {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare<[readonly SqlValue[]]>(sql)
    if (this.#statements.size < MOST_STATEMENTS) this.#statements.set(sql, statement)
    return statement
  }

  /** Every row; the statement has ended by then, so that nothing holds an old state of the file. */
  rows<T>(sql: string, ...values: SqlValue[]): T[] {
    // The columns of our own statements.
    return this.statement(sql).all(values) as T[]
  }

  run(sql: string, ...values: SqlValue[]): Database.RunResult {
    return this.statement(sql).run(values)
  }

  /** Does what `work` does whole or not at all. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.#database, 'IMMEDIATE', work)
  }

  /** All that `work` reads is of one moment. */
  snapshot<T>(work: () => T): T {
    return inTransaction(this.#database, 'DEFERRED', work)
  }

  close(): void {
    this.#isClosed = true
    if (this.#holders > 0) return
    this.#statements.clear()
    this.#database.close()
  }
}

const MOST_STATEMENTS = 100

/** The name by which SQLite opens a file and makes none. */
function thatIsThere(path: string): string {
  // Behind two slashes there would be a host.
  return `file:${path.replace(/^\/+/, '/').replaceAll(/[%?#]/g, encodeURIComponent)}?mode=rw`
}

/** Of the file and of what SQLite has beside it as long as it is open. */
export function inodesOf(path: string): string {
  return path === IN_MEMORY ? '' : PARTS.map((part) => nodeFs.stat(path + part)?.inode ?? 'none').join(' ')
}

const PARTS = ['', '-wal', '-shm']

/** The file itself: its log lies elsewhere where it is a link. */
function isThere(inodes: string): boolean {
  return !inodes.startsWith('none')
}

/** Hexadecimal digits as the bytes that the tables have. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

/**
 * Text that a statement gave as bytes, `CAST(… AS BLOB)`: so is every text of the index read, since one that a flipped bit has made no UTF-8
 * ends the process in the library.
 */
export function utf8Of(bytes: ArrayBuffer | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('utf8')
}

/** The digits of bytes that a statement gave. */
export function hexOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('hex')
}

/** What `PRAGMA user_version` says; 0 of a new file. */
export function userVersion(database: Connection): number {
  const [row] = database.prepare('PRAGMA user_version').all() as { readonly user_version: number }[]
  return row?.user_version ?? 0
}

/** Does what `work` does whole or not at all; IMMEDIATE for who is going to write. */
export function inTransaction<T>(database: Connection, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
  database.exec(`BEGIN ${kind}`)
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // A full disk has rolled it back already.
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

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
