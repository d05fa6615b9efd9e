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
