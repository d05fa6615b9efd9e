import { Refusal } from '../../../errors.ts'
import { type Connection, DatabaseFile, inTransaction, userVersion } from '../../../storage/sqlite.ts'

export class TraceFile extends DatabaseFile {
  #mayHaveOlder = true

  /** Opens the file, creating it if absent; see DatabaseFile. Refuses a file of a newer version. */
  static open(path: string): TraceFile {
    return new TraceFile(path, BUSY_MS, (database) => prepare(database, path))
  }

  /** Whether rows of an older version are still to be migrated; called in the transaction that reads or moves them. */
  get hasOlder(): boolean {
    this.#mayHaveOlder &&= this.rows(OLDER_TABLE).length > 0
    return this.#mayHaveOlder
  }
}

/** How long a writer waits for another process, in milliseconds. */
export const BUSY_MS = 5000

const OLDER_TABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'older_spans'"

/**
 * A row per span, with all of it as JSON in `record`; searched members are also columns with the same names. A row per trace, used for order
 * and removal; a trace begins with its first span. Small columns come before the record, which may span many pages.
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
 * Renames the tables of versions 1 and 2. They stay until their last trace is migrated; each trace is in one or the other. No row is changed.
 * Their times are microseconds since 1970. In version 2, references that many spans share are separate rows, and records have U+0001 and
 * U+0002 in their place, which JSON does not contain.
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

function prepare(database: Connection, path: string): void {
  // The page size and auto_vacuum must be set before the first page is written. A record has 1 to 2 KB, so several share a page, and few need
  // overflow pages.
  database.exec('PRAGMA page_size = 8192')
  database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  // 4 MB of the log, some 1,700 small traces, may be lost in a power cut.
  database.exec('PRAGMA wal_autocheckpoint = 500')
  database.exec('PRAGMA journal_size_limit = 16777216')
  const found = userVersion(database)
  if (found === VERSION) return
  if (found < VERSION) {
    inTransaction(database, 'IMMEDIATE', () => {
      const version = userVersion(database)
      // Another process may have migrated it meanwhile.
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
