import { type Connection, DatabaseFile, inTransaction, userVersion } from '../../../storage/sqlite.ts'

/** How long a write on the serving thread waits for another server of the folder, in milliseconds. */
export const INDEX_BUSY_MS = 50

/** How long a separate thread waits, in milliseconds. */
export const THREAD_BUSY_MS = 5000

/**
 * Opens a project's `index.db` for the serving thread, creating it if needed. A file of another version is
 * emptied, since all of it can be rebuilt. A separate thread writes checkpoints, because they wait for the
 * disk. This thread writes one only if the log grows too fast for the other, as while a large store is first
 * loaded.
 */
export function openIndexFile(path: string): DatabaseFile {
  return new DatabaseFile(path, INDEX_BUSY_MS, (database) => {
    prepare(database)
    database.exec(`PRAGMA wal_autocheckpoint = ${MOST_LOG_PAGES}`)
  })
}

/** 32 MB: eight times the other thread's limit for the log. */
const MOST_LOG_PAGES = 8000

/** The same for a separate thread. */
export function openIndexFileAside(path: string): DatabaseFile {
  return new DatabaseFile(path, THREAD_BUSY_MS, prepare)
}

const VERSION = 7

/** A condition on an artifact: whether its rows are searchable. */
export const HAS_SEARCHED_ROWS =
  "family = 'testsets' AND iif(json_valid(flags), json_extract(flags, '$.search'), 0) = 1"

/**
 * `indexedText` has already split the text into words, for any script; the tokenizer only splits at other
 * characters.
 */
const WORDS = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"

/**
 * What is known about artifacts without opening their repositories. Oids, and the digits of a revision, are
 * bytes in the order of their hexadecimal form; dates are seconds since 1970.
 *
 * A repository's first-parent lines are a tree, stored as **segments**: runs of commits that begin at another
 * run's commit (`base`, `base_depth`) or at a root. A variant holds the commits of its segments up to a depth
 * each (`lines`), so a fork of ten thousand revisions is one more row.
 *
 * `latest` is a variant's newest revision that is not archived itself (interface 4.24); null if there is
 * none.
 *
 * `saved` is an artifact's saved view for a start (see saveView); null if its repository was written to just
 * then.
 *
 * The words of a revision are in `search` under its number; the words of an artifact without revisions are
 * under the negative of its own number. `searched` says whether they are there, as of the artifact's `meta`
 * commit. The search (src/feeds/search) writes them in the background, and with them whether the revision `embeds`
 * anything; null until then.
 *
 * The rows of testsets that opt in are stored once per artifact (`rows`), with their words in `row_words`
 * under their number; `variant_rows` gives each variant's rows and positions. `row_heads` gives the commit
 * they are as of: `head` and its tree of rows, `tree`, once `position` is null. Until then, `variant_rows` is
 * as of `head` up to `position`, and as of `tree` behind it. The rows of a variant that is `gone` are removed
 * in parts.
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
  // A power cut may lose the latest rows, which a check against the repositories finds; no page is torn.
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

/**
 * The tables of another version. Virtual tables come first, because dropping one drops its own tables;
 * SQLite's own tables stay.
 */
function tableNames(database: Connection): string[] {
  const tables = database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC",
    )
    .all() as { readonly name: string }[]
  return tables.map(({ name }) => name)
}
