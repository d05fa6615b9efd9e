/**
 * The tables and the one function of documents and leases, to be run once in an empty schema. A document is kept in parts: what was put there,
 * and what was appended since, so that a log that grows is not written anew. `change_documents` makes changes in the order in which they are given,
 * each of them or not; callers give those of one call sorted by path, and call it last in their transaction, which is READ COMMITTED. A stream is
 * a server's: its row is locked until the commit, so that its numbers have no gaps and come in the order of the commits.
 */
export const DOCUMENT_SCHEMA = `
create sequence document_versions;
create table documents (
  path text collate "C" primary key,
  version bigint not null,
  mode integer
);
create table document_parts (
  path text collate "C" not null,
  version bigint not null,
  is_whole boolean not null,
  bytes bytea not null,
  primary key (path, version)
);
create table document_streams (
  stream text collate "C" primary key,
  n bigint not null,
  trimmed bigint not null default 0
) with (fillfactor = 50);
create table document_log (
  stream text collate "C" not null,
  n bigint not null,
  path text collate "C" not null,
  version bigint not null,
  is_removed boolean not null,
  at timestamptz not null default now(),
  primary key (stream, n)
);
create sequence lease_tokens;
create table leases (
  name text collate "C" primary key,
  holder text not null,
  token bigint not null,
  until timestamptz not null
) with (fillfactor = 50);

create function change_documents(
  p_stream text, p_paths text[], p_kinds text[], p_bytes bytea[], p_modes integer[],
  p_expected bigint[], p_leases text[], p_tokens bigint[]
) returns table (outcome text, made bigint, made_on bigint)
language plpgsql as $$
declare
  there bigint;
  last_n bigint;
  paths text[] := '{}';
  versions bigint[] := '{}';
  removed boolean[] := '{}';
begin
  for i in 1 .. coalesce(array_length(p_paths, 1), 0) loop
    made := 0;
    made_on := 0;
    if p_leases[i] is not null then
      perform 1 from leases l where l.name = p_leases[i] and l.token = p_tokens[i] for share;
      if not found then
        outcome := 'lost';
        return next;
        continue;
      end if;
    end if;
    -- Also of one that is not there: of two that make it, one comes first.
    perform pg_advisory_xact_lock(hashtextextended(p_paths[i], 0));
    there := coalesce((select d.version from documents d where d.path = p_paths[i]), 0);
    if p_expected[i] is not null and p_expected[i] <> there then
      outcome := 'moved';
      return next;
      continue;
    end if;
    made := nextval('document_versions');
    made_on := there;
    if p_kinds[i] = 'append' and there > 0 then
      update documents d set version = made where d.path = p_paths[i];
      insert into document_parts values (p_paths[i], made, false, p_bytes[i]);
    else
      delete from document_parts d where d.path = p_paths[i];
      if p_kinds[i] = 'remove' then
        delete from documents d where d.path = p_paths[i];
      else
        insert into documents values (p_paths[i], made, p_modes[i])
          on conflict (path) do update set version = excluded.version, mode = excluded.mode;
        insert into document_parts values (p_paths[i], made, true, p_bytes[i]);
      end if;
    end if;
    paths := paths || p_paths[i];
    versions := versions || made;
    removed := removed || (p_kinds[i] = 'remove');
    outcome := 'done';
    return next;
  end loop;
  if cardinality(paths) > 0 then
    insert into document_streams as s (stream, n) values (p_stream, cardinality(paths))
      on conflict (stream) do update set n = s.n + excluded.n
      returning s.n into last_n;
    insert into document_log (stream, n, path, version, is_removed)
      select p_stream, last_n - cardinality(paths) + t.place, t.path, t.version, t.is_removed
      from unnest(paths, versions, removed) with ordinality as t (path, version, is_removed, place);
  end if;
end $$;
`
