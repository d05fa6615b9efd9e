import type { Client } from 'pg'
export { followStore } from '../git/following/open-following.ts'
export { sharedTraces } from '../traces/shared/shared-traces.ts'
import { CannotStart, Refusal } from '../errors.ts'
import type { OpenLog, Reads } from '../git/following/shared-log.ts'
import type { TableFeed } from '../storage/documents/document-table.ts'
import type { SpanTable } from '../traces/shared/span-table.ts'
import { Database } from './database.ts'
import { PostgresTable } from './documents/postgres-table.ts'
import { hostsIn, withoutPassword } from './hosts.ts'
import { PostgresLog } from './postgres-log.ts'
import { keepsSessions } from './session.ts'
import { PostgresSpans } from './traces/postgres-spans.ts'
import { FIRST_MIGRATION } from './migrations/0001-log.ts'
import { THIRD_MIGRATION } from './migrations/0003-spans.ts'
import { FIFTH_MIGRATION } from './migrations/0005-sets.ts'
import { SIXTH_MIGRATION } from './migrations/0006-flat.ts'

/**
 * The tables and the one function of documents and leases, to be made once in the schema `branchpoint`. A document is kept in parts: what was put there,
 * and what was appended since, so that a log that grows is not written anew. `change_documents` makes changes in the order in which they are given,
 * each of them or not; callers give those of one call sorted by path, and call it last in their transaction, which is READ COMMITTED. A stream is
 * a server's: its row is locked until the commit, so that its numbers have no gaps and come in the order of the commits. Each call names the mark of the
 * one before and leaves its own: where an answer is lost, the mark tells whether the call was carried out, and none is carried out twice.
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
 * What a decision has to leave beside its refs (see DecisionNote) becomes a document in the same transaction, so that a folder that is filled
 * anew has it, too. These documents come in a stream of their own for each server, whose row is locked until the commit.
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

/** How a database is used. */
export interface PostgresOptions {
  /** `postgres://user@host,host/database`. */
  readonly url: string
  /** Absent: `quorum` where the database waits for a standby, `primary` where it has none. */
  readonly reads: Reads | undefined
  /** Whether the folder goes when the log is closed, as that of a command does. */
  readonly isPassing?: boolean
  /** Says what an operator should know, in a sentence. */
  readonly warn: (sentence: string) => void
}

/**
 * How the log in a PostgreSQL database is opened for a folder. Throws a CannotStart where the database cannot be had, would lose what it
 * acknowledged, or has a schema of another version.
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
 * The documents in a database for whoever has no folder of their own and asks for a few, such as the command line; `close` ends that. Refuses
 * what openPostgres refuses.
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
 * The spans in a database that was opened with openPostgres, over connections of their own, which are made when there is something to do: no
 * question about traces keeps a commit waiting. A primary that its standbys have left is none for them.
 */
export function openSpanTable(url: string): SpanTable {
  return new PostgresSpans(new Database(hostsIn(url) ?? [], true, MAX_SPAN_CONNECTIONS))
}

const MAX_SPAN_CONNECTIONS = 4

/** The hosts of a database that loses nothing, and how it is set. */
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

/** Two connections show whether a pooler lies between that mixes up those of different clients. */
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

/** The oldest version of PostgreSQL that has all that is used. */
const OLDEST = 140_000

function refuseLoss(settings: Settings): void {
  const {
    fsync,
    session_replication_role: role,
    server_version_num: version,
    server_encoding: encoding,
  } = settings
  if (Number(version) < OLDEST)
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

/** What the database said itself: whoever starts a server has stored nothing yet. */
function messageOf(error: unknown): string {
  const own = error instanceof Refusal && error.cause instanceof Error ? error.cause : error
  return (own as Error).message
}

/** In the order of their numbers, from 1. A database that has some gets the others; none is ever changed. */
const MIGRATIONS: readonly string[] = [
  FIRST_MIGRATION,
  SECOND_MIGRATION,
  THIRD_MIGRATION,
  FOURTH_MIGRATION,
  FIFTH_MIGRATION,
  SIXTH_MIGRATION,
]

/** Any number that no other program has a lock of. */
const LOCK = 7_203_486_551

/**
 * Brings the schema of a database up to what this code knows, in one transaction, while no other server does; answers the database's own
 * id. Throws a CannotStart for a schema of a later version.
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
