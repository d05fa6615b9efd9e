import type { Client } from 'pg'
import { CannotStart, Refusal } from '../../errors.ts'
import type { OpenLog, Reads } from '../following/shared-log.ts'
import type { TableFeed } from '../documents/document-table.ts'
import type { SpanTable } from './span-table.ts'
import { Database } from './database.ts'
import { PostgresTable } from './postgres-table.ts'
import { hostsIn, withoutPassword } from './hosts.ts'
import { PostgresLog } from './postgres-log.ts'
import { keepsSessions } from './session.ts'
import { PostgresSpans } from './postgres-spans.ts'
import { FIRST_MIGRATION } from './migrations/0001-log.ts'
import { THIRD_MIGRATION } from './migrations/0003-spans.ts'
import { FIFTH_MIGRATION } from './migrations/0005-sets.ts'
import { SIXTH_MIGRATION } from './migrations/0006-flat.ts'

/**
 * The tables and the function of documents and leases, in the schema `branchpoint`. A document is stored in parts, what was put and what was
 * appended since, so that a growing log is not rewritten. `change_documents` makes changes in the given order; each succeeds or fails by
 * itself. Callers sort the changes of a call by path, and call it last in a READ COMMITTED transaction. Each server has a stream, whose row
 * is locked until the commit, so that its numbers have no gaps and are in the order of commits. Each call names the previous call's mark and
 * leaves its own: if an answer is lost, the mark tells whether the call was carried out, and no call is carried out twice.
 */
export const SECOND_MIGRATION = `
create sequence branchpoint.document_versions;
create table branchpoint.documents (
  path text collate "C" primary key,
  version bigint not null,
  mode integer
);
create table branchpoint.document_parts (
  path text collate "C" not null,
  version bigint not null,
  is_whole boolean not null,
  bytes bytea not null,
  primary key (path, version)
);
alter table branchpoint.document_parts alter column bytes set storage external;
create table branchpoint.document_streams (
  stream text collate "C" primary key,
  n bigint not null default 0,
  mark text not null default '',
  trimmed bigint not null default 0
) with (fillfactor = 50);
create table branchpoint.document_log (
  stream text collate "C" not null,
  n bigint not null,
  path text collate "C" not null,
  version bigint not null,
  is_removed boolean not null,
  mark text not null,
  item integer not null,
  at timestamptz not null default now(),
  primary key (stream, n)
);
create sequence branchpoint.lease_tokens;
create table branchpoint.leases (
  name text collate "C" primary key,
  holder text not null,
  token bigint not null,
  until timestamptz not null,
  note text
) with (fillfactor = 50);

create function branchpoint.change_documents(
  p_stream text, p_previous text, p_mark text, p_paths text[], p_kinds text[], p_packed bytea, p_lengths integer[], p_modes integer[],
  p_expected bigint[], p_leases text[], p_tokens bigint[]
) returns table (outcome text, made bigint, made_on bigint)
language plpgsql as $$
declare
  there bigint;
  start integer := 1;
  bytes bytea;
  position branchpoint.document_streams;
  paths text[] := '{}';
  versions bigint[] := '{}';
  removed boolean[] := '{}';
  items integer[] := '{}';
begin
  select * into position from branchpoint.document_streams s where s.stream = p_stream for update;
  if position.mark is distinct from p_previous then
    raise exception 'the stream % is not where its server believes', p_stream using errcode = 'BP001';
  end if;
  for i in 1 .. coalesce(array_length(p_paths, 1), 0) loop
    made := 0;
    made_on := 0;
    bytes := substr(p_packed, start, p_lengths[i]);
    start := start + p_lengths[i];
    if p_leases[i] is not null then
      perform 1 from branchpoint.leases l where l.name = p_leases[i] and l.token = p_tokens[i] for share;
      if not found then
        outcome := 'lost';
        return next;
        continue;
      end if;
    end if;
    -- Also of one that is not there: of two that make it, one comes first.
    perform pg_advisory_xact_lock(hashtextextended(p_paths[i], 0));
    there := coalesce((select d.version from branchpoint.documents d where d.path = p_paths[i]), 0);
    if p_expected[i] is not null and p_expected[i] <> there then
      outcome := 'moved';
      return next;
      continue;
    end if;
    made := nextval('branchpoint.document_versions');
    made_on := there;
    if p_kinds[i] = 'append' and there > 0 then
      update branchpoint.documents d set version = made where d.path = p_paths[i];
      insert into branchpoint.document_parts values (p_paths[i], made, false, bytes);
    else
      delete from branchpoint.document_parts d where d.path = p_paths[i];
      if p_kinds[i] = 'remove' then
        delete from branchpoint.documents d where d.path = p_paths[i];
      else
        insert into branchpoint.documents values (p_paths[i], made, p_modes[i])
          on conflict (path) do update set version = excluded.version, mode = excluded.mode;
        insert into branchpoint.document_parts values (p_paths[i], made, true, bytes);
      end if;
    end if;
    paths := paths || p_paths[i];
    versions := versions || made;
    removed := removed || (p_kinds[i] = 'remove');
    items := items || i;
    outcome := 'done';
    return next;
  end loop;
  update branchpoint.document_streams s set n = s.n + cardinality(paths), mark = p_mark where s.stream = p_stream;
  insert into branchpoint.document_log (stream, n, path, version, is_removed, mark, item)
    select p_stream, position.n + t.place, t.path, t.version, t.is_removed, p_mark, t.item
    from unnest(paths, versions, removed, items) with ordinality as t (path, version, is_removed, item, place);
end $$;
`

/**
 * A decision's notes (see DecisionNote) become documents in the same transaction, so that a newly filled folder gets them. Each server has a
 * separate stream for them, whose row is locked until the commit.
 */
const FOURTH_MIGRATION = `
create function branchpoint.keep_notes() returns trigger language plpgsql as $$
declare
  notes_stream text := 'decisions of ' || new.stream;
begin
  with kept as (
    insert into branchpoint.documents (path, version)
      select note, nextval('branchpoint.document_versions')
        from (select distinct jsonb_array_elements_text(new.what -> 'notes') as note order by note) as notes
      on conflict (path) do nothing
      returning path, version
  ), filled as (
    insert into branchpoint.document_parts (path, version, is_whole, bytes)
      select path, version, true, '' from kept
  ), counted as (
    insert into branchpoint.document_streams as there (stream, n)
      select notes_stream, count(*) from kept having count(*) > 0
      on conflict (stream) do update set n = there.n + excluded.n
      returning n
  )
  insert into branchpoint.document_log (stream, n, path, version, is_removed, mark, item)
    select notes_stream, counted.n + 1 - row_number() over (order by path), path, version, false, '', 0
      from kept, counted;
  return null;
end $$;

create trigger keep_notes after insert on branchpoint.journal
  for each row when (jsonb_array_length(new.what -> 'notes') > 0)
  execute function branchpoint.keep_notes();

-- Of decisions of before, whose notes each folder took from the journal.
with notes as (
  select distinct jsonb_array_elements_text(what -> 'notes') as note from branchpoint.journal
), kept as (
  insert into branchpoint.documents (path, version)
    select note, nextval('branchpoint.document_versions') from notes
    on conflict (path) do nothing
    returning path, version
)
insert into branchpoint.document_parts (path, version, is_whole, bytes) select path, version, true, '' from kept;
`

export interface PostgresOptions {
  /** `postgres://user@host,host/database`. */
  readonly url: string
  /** By default `quorum` if the database waits for a standby, else `primary`. */
  readonly reads: Reads | undefined
  /** Whether the folder is removed when the log is closed, as with a command. */
  readonly isPassing?: boolean
  /** Called with a warning for the operator. */
  readonly warn: (sentence: string) => void
}

/**
 * Opens the log in a PostgreSQL database for a folder. Throws CannotStart if the database is unreachable, could lose acknowledged writes, or
 * has a schema of a later version.
 */
export function openPostgres({ url, reads, isPassing, warn }: PostgresOptions): OpenLog {
  return async (stream) => {
    const { hosts, settings } = await checked(url)
    const isReplicated = settings.synchronous_standby_names !== ''
    const chosen = reads ?? (isReplicated ? 'quorum' : 'primary')
    if (!isReplicated) {
      warn(
        'the database has no synchronous standby: what it acknowledged is lost if its disk is. Set synchronous_standby_names, or see to it that the service replicates',
      )
    }
    const database = new Database(hosts, chosen === 'quorum')
    try {
      return await PostgresLog.open(database, await migrate(database), chosen, stream, isPassing)
    } catch (error) {
      await database.close()
      throw cannotStart(error, url)
    }
  }
}

/**
 * Documents in a database, for callers without a folder, such as the command line. `close` closes the database. Throws as `openPostgres`
 * does.
 */
export async function openDocumentTable(
  url: string,
): Promise<{ readonly feed: TableFeed; readonly close: () => Promise<void> }> {
  const { hosts } = await checked(url)
  const database = new Database(hosts)
  try {
    await migrate(database)
    return { feed: new PostgresTable(database, 'command line'), close: () => database.close() }
  } catch (error) {
    await database.close()
    throw cannotStart(error, url)
  }
}

/**
 * Spans in a database that was opened with openPostgres. Uses separate connections, opened when needed, so that queries of traces never delay
 * a commit. Does not use a primary without its standbys.
 */
export function openSpanTable(url: string): SpanTable {
  return new PostgresSpans(new Database(hostsIn(url) ?? [], true, MAX_SPAN_CONNECTIONS))
}

const MAX_SPAN_CONNECTIONS = 4

/** The hosts and settings of a database, after checking that it loses no acknowledged writes. */
async function checked(
  url: string,
): Promise<{ readonly hosts: readonly string[]; readonly settings: Settings }> {
  const hosts = hostsIn(url)
  if (!hosts)
    throw new CannotStart(
      `${withoutPassword(url)} is not the address of a database, such as postgres://user@host,host/database`,
    )
  const first = new Database(hosts)
  let settings: Settings
  try {
    await refusePooledTransactions(first)
    settings = await settingsOf(first)
  } catch (error) {
    throw cannotStart(error, url)
  } finally {
    await first.close()
  }
  refuseLoss(settings)
  return { hosts, settings }
}

/** Uses two connections to detect a pooler that mixes up the sessions of different clients. */
async function refusePooledTransactions(database: Database): Promise<void> {
  const clients: Client[] = []
  try {
    for (let count = 0; count < 2; count++) clients.push(await database.listener())
    const [one, other] = clients
    if (!one || !other || (await keepsSessions(one, other))) return
    throw new CannotStart(
      'A pooler lies before the database that gives each transaction a connection of its own (PgBouncer with pool_mode = transaction or statement, ' +
        'or with a single connection). Branchpoint keeps settings, prepared statements and a listener in its connections: set pool_mode = session ' +
        'for this database, with at least 15 connections for each server, or name the database itself in STORE.',
    )
  } finally {
    for (const client of clients) await client.end().catch(() => undefined)
  }
}

interface Settings {
  readonly fsync: string
  readonly session_replication_role: string
  readonly synchronous_standby_names: string
  readonly server_version_num: string
  readonly server_encoding: string
}

async function settingsOf(database: Database): Promise<Settings> {
  const [settings] = await database.query<Settings>({
    text: `select ${[
      'fsync',
      'session_replication_role',
      'synchronous_standby_names',
      'server_version_num',
      'server_encoding',
    ]
      .map((name) => `current_setting('${name}') as ${name}`)
      .join(', ')}`,
  })
  if (!settings) throw new CannotStart('The database does not say how it is set.')
  return settings
}

const OLDEST_POSTGRES_VERSION = 140_000

function refuseLoss(settings: Settings): void {
  const {
    fsync,
    session_replication_role: role,
    server_version_num: version,
    server_encoding: encoding,
  } = settings
  if (Number(version) < OLDEST_POSTGRES_VERSION)
    throw new CannotStart(
      `The database is PostgreSQL ${Math.floor(Number(version) / 10_000)}; 14 or later is needed.`,
    )
  if (!['UTF8', 'SQL_ASCII'].includes(encoding))
    throw new CannotStart(
      `The database has the encoding ${encoding}, which lacks most characters. Make one with the encoding UTF8.`,
    )
  if (fsync === 'off')
    throw new CannotStart(
      'The database has fsync=off: a power cut would lose what was acknowledged. Set it to on.',
    )
  if (role !== 'origin')
    throw new CannotStart(
      `The database has session_replication_role=${role}, so triggers are not carried out, and no connection may set it by itself. Set it to origin (alter database … reset session_replication_role).`,
    )
}

function cannotStart(error: unknown, url: string): unknown {
  if (error instanceof CannotStart) return error
  const isOfTheDatabase =
    error instanceof Refusal || /^[0-9A-Z]{5}$/.test(String((error as NodeJS.ErrnoException).code))
  if (!isOfTheDatabase) return error
  return new CannotStart(`Cannot open the database ${withoutPassword(url)}: ${messageOf(error)}`, {
    cause: error,
  })
}

/** The database's own message; the Refusal around it would say that nothing was stored, which does not matter at a start. */
function messageOf(error: unknown): string {
  const own = error instanceof Refusal && error.cause instanceof Error ? error.cause : error
  return (own as Error).message
}

/** Migrations by number, from 1. A database gets those that it lacks; existing ones are never changed. */
const MIGRATIONS: readonly string[] = [
  FIRST_MIGRATION,
  SECOND_MIGRATION,
  THIRD_MIGRATION,
  FOURTH_MIGRATION,
  FIFTH_MIGRATION,
  SIXTH_MIGRATION,
]

/** An arbitrary number for the advisory lock, unlikely to be used by other programs. */
const LOCK = 7_203_486_551

/**
 * Migrates the schema to this version in one transaction, under a lock; answers the database's id. Throws CannotStart for a schema of a later
 * version.
 */
export async function migrate(database: Database): Promise<string> {
  return database.transaction('begin', async (ask) => {
    await ask('select pg_advisory_xact_lock($1)', [LOCK])
    const [schema] = await ask<{ there: boolean }>(
      `select to_regclass('branchpoint.database') is not null as there`,
    )
    if (!schema?.there) {
      await ask('create schema if not exists branchpoint')
      await ask('create table branchpoint.database (id uuid not null, version int not null)')
      await ask('insert into branchpoint.database values (gen_random_uuid(), 0)')
    }
    const [found] = await ask<{ id: string; version: number }>('select id, version from branchpoint.database')
    if (!found)
      throw new CannotStart('The table branchpoint.database is empty. Restore the database from a backup.')
    if (found.version > MIGRATIONS.length) {
      throw new CannotStart(
        `The database has the schema of version ${found.version}, and this version of the server knows versions up to ${MIGRATIONS.length}. ` +
          'Start the version that made it that.',
      )
    }
    for (const migration of MIGRATIONS.slice(found.version)) await ask(migration)
    if (found.version < MIGRATIONS.length)
      await ask('update branchpoint.database set version = $1', [MIGRATIONS.length])
    return found.id
  })
}
