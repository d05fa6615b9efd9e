import Database from 'libsql'
import { nodeFs } from '../node-fs.ts'

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
