import Database from 'libsql'
import { Refusal } from '../../errors.ts'
import { nodeFs } from '../../storage/node-fs.ts'

/** What the statements of a connection are given and give. */
export type SqlValue = string | number | null

/**
 * An open file of traces. Several threads and processes have one open at once: SQLite's write-ahead log lets one write while the
 * others read.
 */
export class TraceFile {
  readonly #path: string
  readonly #database: Database.Database
  readonly #inode: number
  readonly #statements = new Map<string, Database.Statement<[readonly SqlValue[]]>>()

  private constructor(path: string, database: Database.Database, inode: number) {
    this.#path = path
    this.#database = database
    this.#inode = inode
  }

  /** Opens the file, making it if need be. Throws what `isDamage` and `isStorageTrouble` know, and refuses a newer version. */
  static open(path: string): TraceFile {
    const database = new Database(path, { timeout: BUSY_MS })
    try {
      prepare(database, path)
      const inode = nodeFs.stat(path)?.inode
      if (inode === undefined) throw new Error(`${path} was removed while it was opened`)
      return new TraceFile(path, database, inode)
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** Whether what lies under the path is still what was opened. */
  get isCurrent(): boolean {
    return nodeFs.stat(this.#path)?.inode === this.#inode
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
    this.#statements.clear()
    this.#database.close()
  }
}

/** How long a writer waits for another process to have finished, in milliseconds. */
export const BUSY_MS = 5000

const MOST_STATEMENTS = 100

/**
 * What makes each version of the one before. A new file goes through all of them, so that all files are alike.
 *
 * 1: a row a trace, which orders and removes traces, and a row a span. Small columns come before the record, which may go on over many
 *    pages.
 * 2: references that many spans share are rows of their own (shared-references.ts). Spans of before keep theirs in their records, as do
 *    those whose references come but once.
 */
const VERSIONS = [
  `
  CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    start_time INTEGER NOT NULL
  );
  CREATE INDEX traces_by_time ON traces (start_time, trace_id);
  CREATE TABLE spans (
    id INTEGER PRIMARY KEY,
    trace INTEGER NOT NULL REFERENCES traces (id),
    span_id TEXT NOT NULL,
    parent_id TEXT,
    trace_type TEXT NOT NULL,
    span_type TEXT NOT NULL,
    span_name TEXT NOT NULL,
    status_code TEXT NOT NULL,
    session_id TEXT,
    start_time INTEGER NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (trace, span_id)
  );
  CREATE INDEX spans_by_time ON spans (start_time, span_id);
  PRAGMA user_version = 1;
  `,
  // No foreign key: when a text goes, SQLite would look for it in every span.
  `
  CREATE TABLE reference_texts (
    id INTEGER PRIMARY KEY,
    members TEXT NOT NULL UNIQUE,
    list TEXT NOT NULL,
    newest INTEGER NOT NULL
  );
  CREATE INDEX reference_texts_by_time ON reference_texts (newest);
  ALTER TABLE spans ADD COLUMN reference_text INTEGER;
  PRAGMA user_version = 2;
  `,
]
const VERSION = VERSIONS.length

function prepare(database: Database.Database, path: string): void {
  // How large pages are and how they are given back must be said before there are any. A record takes 0.5 to 2 KB: so several share a
  // page, and few go on over others.
  database.exec('PRAGMA page_size = 8192')
  database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  // 4 MB of the log: what a power cut may cost, some 4,000 small traces.
  database.exec('PRAGMA wal_autocheckpoint = 500')
  database.exec('PRAGMA journal_size_limit = 16777216')
  const found = versionOf(database)
  if (found === VERSION) return
  if (found < VERSION) {
    // Another process may have done so meanwhile. No row is touched, however many there are.
    inTransaction(database, 'IMMEDIATE', () => {
      for (const step of VERSIONS.slice(versionOf(database))) database.exec(step)
    })
    return
  }
  throw new Refusal(
    'storage_unavailable',
    `The traces in ${path} have version ${found}; this version reads version ${VERSION}. Use the version that made them, or move the file away.`,
  )
}

function versionOf(database: Database.Database): number {
  const [row] = database.prepare('PRAGMA user_version').all() as { readonly user_version: number }[]
  return row?.user_version ?? 0
}

function inTransaction<T>(database: Database.Database, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
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
