import Database from 'libsql'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { nodeFs } from '../files/node-fs.ts'
import { existingFile, lockAlone } from './file-lock.ts'
import { isDamage, OtherFile } from './sqlite-errors.ts'

/** A connection to a file, for code that prepares its tables. */
export type Connection = Database.Database

/** Values of statements: parameters and columns. */
export type SqlValue = string | number | null | Uint8Array

/** The path of a database that is only in memory. */
export const IN_MEMORY = ':memory:'

/**
 * An open SQLite file. Several threads and processes may have one open at once: with its write-ahead log, one can write while others read.
 */
export class DatabaseFile {
  readonly path: string
  readonly #database: Connection
  /** Identifies the open file: another file at the same path has other inodes. */
  readonly inodes: string
  readonly #statements = new Map<string, Database.Statement<[readonly SqlValue[]]>>()
  #holders = 0
  #isClosed = false

  /**
   * Opens an existing file, which may be empty, and calls `prepare` to create or migrate its tables. A writer waits `busyMs` milliseconds
   * for another one. Throws errors that `isDamage` and `isStorageTrouble` recognise, and those of `prepare`.
   */
  constructor(path: string, busyMs: number, prepare: (database: Connection) => void) {
    this.path = path
    this.#database = new Database(path === IN_MEMORY ? path : existingFile(path, 'rw'), { timeout: busyMs })
    try {
      prepare(this.#database)
      this.inodes = inodesOf(path)
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** Whether the path still has the opened file and its log: no other process would see writes to a replaced one. */
  get isCurrent(): boolean {
    return this.path === IN_MEMORY || (isThere(this.inodes) && inodesOf(this.path) === this.inodes)
  }

  /** Whether its log was removed: then the file may mix two states. */
  get isTorn(): boolean {
    return (
      !this.isCurrent &&
      isThere(this.inodes) &&
      inodesOf(this.path).split(' ')[0] === this.inodes.split(' ')[0]
    )
  }

  /** Keeps the file open for a reader even if it is closed meanwhile. Answers a function that releases it; call it once. */
  hold(): () => void {
    this.#holders++
    return () => {
      this.#holders--
      if (this.#isClosed) this.close()
    }
  }

  /** A prepared statement, cached by its text. Do not put values into the text, or the cache grows. */
  statement(sql: string): Database.Statement<[readonly SqlValue[]]> {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare<[readonly SqlValue[]]>(sql)
    if (this.#statements.size < MOST_STATEMENTS) this.#statements.set(sql, statement)
    return statement
  }

  /** Every row. The statement has ended then, so it does not keep an old state of the file. */
  rows<T>(sql: string, ...values: SqlValue[]): T[] {
    // The columns of our own statements.
    return this.statement(sql).all(values) as T[]
  }

  run(sql: string, ...values: SqlValue[]): Database.RunResult {
    return this.statement(sql).run(values)
  }

  /** Runs `work` atomically. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.#database, 'IMMEDIATE', work)
  }

  /** Runs `work` so that all its reads see one state. */
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

/** The inodes of the file and of the files that SQLite keeps beside it while it is open. */
export function inodesOf(path: string): string {
  return path === IN_MEMORY ? '' : PARTS.map((part) => nodeFs.stat(path + part)?.inode ?? 'none').join(' ')
}

const PARTS = ['', '-wal', '-shm']

/** Only the file itself: if it is a link, its log is elsewhere. */
function isThere(inodes: string): boolean {
  return !inodes.startsWith('none')
}

/** The bytes of hexadecimal digits, as the tables store them. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

/**
 * A text that a statement gave as bytes, `CAST(… AS BLOB)`. Every text of the index is read in this way, because the library ends the
 * process for a text that a flipped bit made invalid UTF-8.
 */
export function utf8Of(bytes: ArrayBuffer | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('utf8')
}

/** The hexadecimal digits of bytes that a statement gave. */
export function hexOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('hex')
}

/** The value of `PRAGMA user_version`; 0 for a new file. */
export function userVersion(database: Connection): number {
  const [row] = database.prepare('PRAGMA user_version').all() as { readonly user_version: number }[]
  return row?.user_version ?? 0
}

/** Runs `work` atomically; use IMMEDIATE for writers. */
export function inTransaction<T>(database: Connection, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
  database.exec(`BEGIN ${kind}`)
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // If the disk is full, SQLite has already rolled back.
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** Another process may remove the file meanwhile; writes to it would be lost. */
const MAX_OPENS = 5

/** The files that SQLite keeps beside an open file. */
const LOG_PARTS = ['-wal', '-shm'] as const

/** The SQLite files of one kind that a thread has open, by path. */
export class DatabaseFiles<T extends DatabaseFile> {
  readonly #make: (path: string) => T
  readonly #busyMs: number
  readonly #open = new Map<string, T>()

  /** `make` opens a file. Opening or moving a file waits `busyMs` milliseconds for another process that does. */
  constructor(make: (path: string) => T, busyMs: number) {
    this.#make = make
    this.#busyMs = busyMs
  }

  /** The file, created if it does not exist. If the open one was moved or removed, opens the path again. */
  writable(path: string): T {
    const known = this.#open.get(path)
    if (known?.isCurrent) return known
    this.forget(path)
    const opened = this.#alone(path, () => this.#makeThere(path))
    this.#open.set(path, opened)
    return opened
  }

  /** The file that another thread has open as `inodes`. If the path has another file, throws an OtherFile, and touches nothing. */
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

  /** The file, or undefined if it was never written. */
  readable(path: string): T | undefined {
    if (nodeFs.stat(path)) return this.writable(path)
    this.forget(path)
    return undefined
  }

  /** Whether the path has another file than the open one. */
  wasReplaced(path: string): boolean {
    return this.#open.get(path)?.isCurrent === false
  }

  /** Removes a derived file if it has lost its log (see DatabaseFile.isTorn). If that fails, it stays. */
  removeTorn(file: T): void {
    const { path } = file
    this.#alone(path, () => {
      if (!file.isTorn) return
      try {
        nodeFs.remove(path)
        removeParts(path)
      } catch {
        // The next open reports the error.
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

  /** Tries again if another process removes the file while it is opened. */
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
   * Renames a file that is not a database, so that a new one can take its place and the old data can still be read. Answers the new path;
   * undefined if another process was faster, or no page is damaged and the caller is not sure that the file is.
   */
  setAside(path: string, isSure = false): string | undefined {
    const wasReplaced = this.wasReplaced(path)
    this.forget(path)
    if (wasReplaced) return undefined
    // If two processes find the damage, the second one finds the new file.
    return this.#alone(path, () => {
      const isThere = nodeFs.stat(path) !== undefined
      return isThere && (isSure || this.#isDamaged(path)) ? rename(path) : undefined
    })
  }

  /** Checks every page, so that a temporary error does not move the file. */
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
   * Keeps other threads and processes from opening the file or setting it aside: its parts move one by one, and a new file begun in between
   * would lose its log. The lock is an SQLite lock on an empty file, and ends with its holder.
   */
  #alone<R>(path: string, work: () => R): R {
    const lock = lockAlone(`${path}.guard`, this.#busyMs)
    try {
      return work()
    } finally {
      lock.release()
    }
  }
}

/**
 * Makes an empty file if there is none, and removes files beside it. They belong to a removed file that may still be open: SQLite would use
 * its log and shared memory for the new file, and its readers would read pages of the new one. An existing file is not opened, because
 * closing it would end the locks that this process has on it.
 */
function beginIfAbsent(path: string): void {
  // For a link, checks its target.
  if (existsSync(path)) return
  try {
    removeParts(path)
    nodeFs.append(path, NO_BYTES)
  } catch {
    // SQLite reports the problem.
  }
}

/** Earlier versions made the file with the umask's permissions. SQLite gives its log the permissions of the file. */
function closeToOthers(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch {
    // The file is gone again, or belongs to another user, who may have chosen its permissions.
  }
}

const NO_BYTES = Buffer.alloc(0)

function removeParts(path: string): void {
  for (const part of LOG_PARTS) if (nodeFs.stat(path + part)) nodeFs.remove(path + part)
}

function rename(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  nodeFs.rename(path, aside)
  for (const part of LOG_PARTS) if (nodeFs.stat(path + part)) nodeFs.rename(path + part, aside + part)
  return aside
}
