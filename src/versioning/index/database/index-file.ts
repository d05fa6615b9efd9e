import type { Connection } from '../../../storage/sqlite/database-file.ts'
import { DatabaseFile, inTransaction, userVersion } from '../../../storage/sqlite/database-file.ts'

/** How long a write waits for another server of the folder, in milliseconds: it is made on the thread that serves. */
export const INDEX_BUSY_MS = 50

/** How long a thread of its own waits, in milliseconds. */
export const THREAD_BUSY_MS = 5000

/**
 * Opens `index.db` of a project for the thread that serves, making it if need be. One of another version is emptied: all of it can be made
 * again. What is written is put from the log into the file by the other thread, since that waits for the disk; by this one only where so
 * much is written that the other one has no turn meanwhile, as while a large store is read in for the first time.
 */
export function openIndexFile(path: string): DatabaseFile {
  return new DatabaseFile(path, INDEX_BUSY_MS, (database) => {
    prepare(database)
    database.exec(`PRAGMA wal_autocheckpoint = ${MOST_LOG_PAGES}`)
  })
}

/** 32 MB: eight times what the other thread lets the log grow to. */
const MOST_LOG_PAGES = 8000

/** The same for a thread of its own. */
export function openIndexFileAside(path: string): DatabaseFile {
  return new DatabaseFile(path, THREAD_BUSY_MS, prepare)
}

const VERSION = 7

/** Of an artifact: whether its rows are to be found. */
export const HAS_SEARCHED_ROWS =
  "family = 'testsets' AND iif(json_valid(flags), json_extract(flags, '$.search'), 0) = 1"

/** Words come as `indexedText` cuts them, in any script: the tokenizer only splits at what is none of their characters. */
const WORDS = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"

/**
 * What can be told of artifacts without opening their repositories. Oids, and the digits of a revision, are bytes,
 * in the order of their hexadecimal form; dates are seconds since 1970.
 *
 * A repository's first-parent lines are a tree, kept as **segments**: stretches of commits that each begin at another one's commit
 * (`base`, `base_depth`) or at a root. A variant holds the commits of its segments up to a depth each (`lines`): so a fork of ten
 * thousand revisions is one row more.
 *
 * `latest` of a variant is its newest revision that is not archived by itself (interface 4.24); null if there is none.
 *
 * `saved` is what a start has of an artifact (see saveView); null where its repository was written to just then.
 *
 * The words of a revision stand in `search` under its number, those of an artifact without any under the negative of its own; `searched` says
 * whether they do, as of the artifact's `meta` commit. Another room writes them, when there is time (src/search), and with them whether the
 * revision `embeds` anything; null as long as nobody has looked.
 *
 * The rows of testsets that opt in are content, so each stands once an artifact (`rows`), with its words in `row_words` under its number;
 * `variant_rows` says which variant has which row where. `row_heads` says as of which commit: `head` and its tree of rows, `tree`, once
 * `position` is null; until then `variant_rows` is as of `head` up to `position`, and as of `tree` behind that. Of one that is `gone`,
 * all is to be removed, a part at a time.
 */
const TABLES = `
  CREATE TABLE artifacts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    family TEXT NOT NULL,
    slug TEXT NOT NULL,
    id TEXT NOT NULL,
    digits TEXT NOT NULL,
    archived INTEGER NOT NULL,
    flags TEXT NOT NULL,
    unreadable INTEGER NOT NULL,
    meta TEXT NOT NULL,
    searched INTEGER NOT NULL,
    seen TEXT NOT NULL,
    saved TEXT,
    UNIQUE (family, slug)
  );
  CREATE INDEX artifacts_by_digits ON artifacts (digits);
  CREATE INDEX artifacts_with_rows ON artifacts (number) WHERE ${HAS_SEARCHED_ROWS};
  CREATE TABLE variants (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    artifact INTEGER NOT NULL,
    slug TEXT NOT NULL,
    id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    head BLOB,
    latest BLOB,
    UNIQUE (artifact, slug)
  );
  CREATE INDEX variants_by_slug ON variants (slug);
  CREATE INDEX variants_by_id ON variants (id);
  CREATE TABLE segments (
    number INTEGER PRIMARY KEY,
    artifact INTEGER NOT NULL,
    base INTEGER,
    base_depth INTEGER NOT NULL,
    tip INTEGER NOT NULL
  );
  CREATE INDEX segments_of ON segments (artifact);
  CREATE TABLE lines (
    segment INTEGER NOT NULL,
    variant INTEGER NOT NULL,
    up_to INTEGER NOT NULL,
    PRIMARY KEY (segment, variant)
  ) WITHOUT ROWID;
  CREATE INDEX lines_of ON lines (variant);
  CREATE TABLE authors (
    number INTEGER PRIMARY KEY,
    author TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL
  );
  CREATE TABLE revisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    artifact INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    author INTEGER NOT NULL,
    family TEXT NOT NULL,
    seconds INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    oid BLOB NOT NULL,
    digits BLOB NOT NULL,
    is_long INTEGER NOT NULL,
    message TEXT,
    archived INTEGER NOT NULL,
    searched INTEGER NOT NULL,
    embeds INTEGER,
    UNIQUE (artifact, oid)
  );
  CREATE INDEX archived_revisions ON revisions (artifact, oid) WHERE archived;
  CREATE INDEX unsearched ON revisions (number) WHERE NOT searched;
  CREATE INDEX unsearched_artifacts ON artifacts (number) WHERE NOT searched;
  CREATE INDEX revisions_by_date ON revisions (family, seconds, depth, oid, digits);
  CREATE INDEX revisions_by_author ON revisions (author, family, seconds, depth, oid, digits);
  CREATE INDEX long_messages ON revisions (number) WHERE is_long;
  CREATE VIRTUAL TABLE messages USING fts5 (
    message, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
  );
  CREATE VIRTUAL TABLE search USING fts5 (
    name, description, tags, message, data, content = '', contentless_delete = 1,
    tokenize = "${WORDS}"
  );
  CREATE TABLE rows (
    number INTEGER PRIMARY KEY,
    artifact INTEGER NOT NULL,
    oid BLOB NOT NULL,
    UNIQUE (artifact, oid)
  );
  CREATE TABLE variant_rows (
    variant INTEGER NOT NULL,
    position BLOB NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (variant, position)
  ) WITHOUT ROWID;
  CREATE INDEX variants_of_row ON variant_rows (row);
  CREATE TABLE row_heads (
    variant INTEGER PRIMARY KEY,
    head BLOB,
    tree BLOB,
    position BLOB,
    gone INTEGER NOT NULL
  );
  CREATE VIRTUAL TABLE row_words USING fts5 (
    data, content = '', contentless_delete = 1,
    tokenize = "${WORDS}"
  );
  PRAGMA user_version = ${VERSION};
`

function prepare(database: Connection): void {
  database.exec('PRAGMA journal_mode = WAL')
  // What a power cut takes from the end is found by what the rows were made of; no page is torn.
  database.exec('PRAGMA synchronous = NORMAL')
  database.exec('PRAGMA journal_size_limit = 16777216')
  if (userVersion(database) === VERSION) return
  inTransaction(database, 'IMMEDIATE', () => {
    // Another server may have done so meanwhile.
    if (userVersion(database) === VERSION) return
    for (const name of tableNames(database))
      database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`)
    database.exec(TABLES)
  })
}

/** Of another version, which had tables of its own; those of a virtual table go with it, and SQLite's own stay. */
function tableNames(database: Connection): string[] {
  const tables = database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC",
    )
    .all() as { readonly name: string }[]
  return tables.map(({ name }) => name)
}
