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
  #mayHaveOlder = true
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

  /** Whether it has rows of an older version that are not brought over yet; asked in the transaction that reads or moves them. */
  get hasOlder(): boolean {
    this.#mayHaveOlder &&= this.rows(OLDER_TABLE).length > 0
    return this.#mayHaveOlder
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

const OLDER_TABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'older_spans'"

/**
 * A row a span, with the whole of it as JSON in `record`: what is looked for stands in columns, under the names that it has in the
 * record. A row a trace, which orders and removes traces: it begins when its first span does. Small columns come before the record,
 * which may go on over many pages.
 */
const TABLES = `
  CREATE TABLE traces (
    trace_id TEXT PRIMARY KEY,
    start_time TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX traces_by_start ON traces (start_time, trace_id);
  CREATE TABLE spans (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    parent_id TEXT,
    trace_type TEXT NOT NULL,
    span_type TEXT NOT NULL,
    span_kind TEXT NOT NULL,
    span_name TEXT NOT NULL,
    start_time TEXT NOT NULL,
    end_time TEXT NOT NULL,
    status_code TEXT NOT NULL,
    session_id TEXT,
    record TEXT NOT NULL,
    UNIQUE (trace_id, span_id)
  );
  CREATE INDEX spans_by_start ON spans (start_time, span_id);
  PRAGMA user_version = 3;
`
const VERSION = 3

/**
 * The tables of versions 1 and 2 get other names, and stay beside those of now until their last trace is brought over: each trace lies
 * in one or the other. No row is touched, however many there are. Times were microseconds since 1970. Of version 2, references that
 * many spans have are rows of their own, and a record has U+0001 and U+0002 where they go, which JSON has none of.
 */
const PUT_ASIDE = `
  ALTER TABLE traces RENAME TO older_traces;
  ALTER TABLE spans RENAME TO older_spans;
  ALTER TABLE reference_texts RENAME TO older_references;
`

const FROM_1_TO_2 = `
  CREATE TABLE reference_texts (id INTEGER PRIMARY KEY, members TEXT NOT NULL UNIQUE, list TEXT NOT NULL, newest INTEGER NOT NULL);
  ALTER TABLE spans ADD COLUMN reference_text INTEGER;
`

function prepare(database: Database.Database, path: string): void {
  // How large pages are and how they are given back must be said before there are any. A record takes 1 to 2 KB: so several share a
  // page, and few go on over others.
  database.exec('PRAGMA page_size = 8192')
  database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  // 4 MB of the log: what a power cut may cost, some 1,700 small traces.
  database.exec('PRAGMA wal_autocheckpoint = 500')
  database.exec('PRAGMA journal_size_limit = 16777216')
  const found = versionOf(database)
  if (found === VERSION) return
  if (found < VERSION) {
    inTransaction(database, 'IMMEDIATE', () => {
      const version = versionOf(database)
      // Another process may have done so meanwhile.
      if (version === VERSION) return
      if (version === 1) database.exec(FROM_1_TO_2)
      if (version > 0) database.exec(PUT_ASIDE)
      database.exec(TABLES)
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
