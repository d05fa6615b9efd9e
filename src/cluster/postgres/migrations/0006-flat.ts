/**
 * A round of a batch comes as flat lists (see encodeBatch): items, their writes, the moves and claims of the writes, and what the items need
 * and have seen. The planner assumes a hundred entries per JSON list. For three levels of nested lists it assumed a million, so PostgreSQL
 * compiled the statement (`jit`) and scanned whole tables. For flat lists the estimate stays at a hundred.
 *
 * The functions fix their own settings, whatever the caller has: no compilation, one plan per connection, no names except PostgreSQL's and
 * qualified ones. `append` refuses to run in a transaction that would not see what was committed while it waited for its locks.
 *
 * A stream keeps the refusals of its last batch, so that a lost answer can be given again.
 */
export const SIXTH_MIGRATION = `
alter table branchpoint.streams add column refused jsonb not null default '{}';

drop function branchpoint.append(bigint, uuid, bigint, text, text[], text[], jsonb, bytea);
drop function branchpoint.apply_writes(jsonb, jsonb, bytea);
drop function branchpoint.problems_of(jsonb);

-- Why items of a round cannot happen, by their numbers; those that can are not in the answer.
create function branchpoint.problems_of(p_round jsonb) returns jsonb language plpgsql
set jit = off set plan_cache_mode = force_generic_plan set search_path = pg_catalog as $$
begin
  return (
    with writes as materialized (
      select item, write, repository, head, id, coalesce(state, 'purged') as state
        from jsonb_to_recordset(p_round -> 'writes') as w (item int, write int, repository text, head text)
        left join lateral (
          select id, state from branchpoint.repositories where path = repository limit 1) as there on true
    ), problems as (
      select item, write, 1 as step, case when head is null then 'moved' else 'claimed' end as refused, repository as what
        from writes
        where state <> case when head is null then 'live' else 'purged' end
      union all
      select item, write, 2, 'moved', ref
        from jsonb_to_recordset(p_round -> 'moves') as m (write int, ref text, expected text) join writes using (write)
        where head is null and ref <> 'HEAD' and expected is distinct from (
          select oid from branchpoint.refs where refs.repository = id and refs.name = ref)
      union all
      select item, write, 3, 'claimed', claim
        from jsonb_to_recordset(p_round -> 'claims') as c (write int, name text, "mustBeFree" boolean) join writes using (write),
          lateral (select split_part(repository, '/', 1) as project, name as claim) as claimed
        where "mustBeFree" and (
          select true from branchpoint.names where names.project = claimed.project and names.name = claim limit 1)
      union all
      select item, null, 4, 'moved', repository
        from jsonb_to_recordset(p_round -> 'needs') as n (item int, repository text)
        where (select state from branchpoint.repositories where path = repository) is distinct from 'live'
      union all
      select item, null, 5, 'moved', repository
        from jsonb_to_recordset(p_round -> 'seen') as s (item int, repository text, version bigint)
        where version is distinct from (
          select there.version from branchpoint.repositories as there where path = repository and state <> 'purged')
      union all
      select item, null, 6, 'moved', moved ->> 'repository'
        from jsonb_to_recordset(p_round -> 'items') as i (item int, moved jsonb)
        where moved is not null and case when (moved ->> 'isToTrash')::boolean then 'live' else 'trashed' end
          is distinct from (select state from branchpoint.repositories where path = moved ->> 'repository')
      union all
      select item, null, 7, 'moved', purged ->> 'repository'
        from jsonb_to_recordset(p_round -> 'items') as i (item int, purged jsonb)
        where purged is not null and 'trashed'
          is distinct from (select state from branchpoint.repositories where path = purged ->> 'repository')
    ), chosen as (
      select distinct on (item) item, refused, what from problems order by item, write, step
    )
    select coalesce(jsonb_object_agg(item, jsonb_build_object('refused', refused, 'what', what)), '{}') from chosen);
end $$;

-- Does what items of a round write, but for those that have problems; answers each one's writes as the journal has them, by its number.
create function branchpoint.apply_writes(p_round jsonb, p_problems jsonb, p_packed bytea) returns jsonb language plpgsql
set jit = off set plan_cache_mode = force_generic_plan set search_path = pg_catalog as $$
declare
  done jsonb;
  ended record;
  large record;
begin
  with writes as materialized (
    select item, write, repository as path, head, pack, coalesce(staged, '{}') as staged
      from jsonb_to_recordset(p_round -> 'writes') as w (item int, write int, repository text, head text, pack jsonb, staged bigint[])
      where not p_problems ? item::text
  ), moves as materialized (
    select write, path, place, ref, expected, target
      from rows from (
        jsonb_to_recordset(p_round -> 'moves') as (write int, ref text, expected text, target text)
      ) with ordinality as m (write, ref, expected, target, place)
      join writes using (write)
  ), heads as materialized (
    select jsonb_object_agg(path, substr(target, length('ref: refs/heads/') + 1)) as named from moves where ref = 'HEAD'
  ), made as (
    insert into branchpoint.repositories as there (path, version, state, head)
      select path, 1, 'live', head from writes where head is not null order by path
      on conflict (path) do update
        set version = there.version + 1, state = 'live', stamp = null, head = excluded.head
      returning id, path, version
  ), changed as (
    update branchpoint.repositories as there
      set version = version + 1, head = coalesce((select named from heads) ->> path, head)
      where path = any (array(select writes.path from writes where writes.head is null))
      returning id, path, version
  ), touched as materialized (
    select * from made union all select * from changed
  ), put as (
    insert into branchpoint.refs (repository, name, oid)
      select id, ref, target from moves join touched using (path) where ref <> 'HEAD' and target is not null
      on conflict (repository, name) do update set oid = excluded.oid
  ), named as (
    insert into branchpoint.names (project, name, repository)
      select split_part(path, '/', 1), name, id
        from jsonb_to_recordset(p_round -> 'claims') as c (write int, name text, "isTaken" boolean)
          join writes using (write) join touched using (path)
        where "isTaken"
      on conflict do nothing
  ), small as materialized (
    select id, pack ->> 'name' as name, (pack ->> 'size')::int as size, (pack ->> 'from')::int as start
      from writes join touched using (path) where pack is not null
  ), packed as (
    insert into branchpoint.packs (repository, name, size) select id, name, size from small
      on conflict (repository, name) where repository is not null do nothing
      returning id as pack, repository as id, name
  ), parts as (
    insert into branchpoint.pack_parts (pack, part, bytes)
      select pack, 0, substring(p_packed from start + 1 for size) from packed join small using (id, name)
  ), moved as (
    select write, jsonb_agg(jsonb_build_object('ref', ref, 'expected', expected, 'target', target) order by place) as moves
      from moves group by write
  ), told as (
    select item, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'repository', path,
        'version', version,
        'moves', coalesce(moves, '[]'),
        'packs', array(select name from branchpoint.packs where id = any (staged)) || array(select pack ->> 'name' where pack is not null),
        'head', head)) order by write) as writes
      from writes join touched using (path) left join moved using (write)
      group by item
  )
  select coalesce(jsonb_object_agg(item, told.writes), '{}') into done from told;
  for ended in
    select repository as path, ref
      from jsonb_to_recordset(p_round -> 'moves') as m (write int, ref text, target text)
        join jsonb_to_recordset(p_round -> 'writes') as w (item int, write int, repository text) using (write)
      where target is null and not p_problems ? item::text
  loop
    delete from branchpoint.refs using branchpoint.repositories
      where repositories.path = ended.path and refs.repository = repositories.id and refs.name = ended.ref;
  end loop;
  for large in
    select repository as path, unnest(staged) as pack
      from jsonb_to_recordset(p_round -> 'writes') as w (item int, repository text, staged bigint[])
      where not p_problems ? item::text
  loop
    perform from branchpoint.packs where id = large.pack and repository is null;
    if not found then
      raise exception 'a pack of % was staged too long ago', large.path using errcode = 'BP002';
    end if;
    update branchpoint.packs as staged set repository = there.id
      from branchpoint.repositories as there
      where there.path = large.path and staged.id = large.pack and not exists (
        select from branchpoint.packs as same where same.repository = there.id and same.name = staged.name);
  end loop;
  return done;
end $$;

-- Appends a batch to a stream: what cannot happen is refused by itself, and everything else happens. Answers what became of each
-- item, in the order of their numbers. To be called in a transaction of its own: each statement sees what was committed before it got the
-- locks. All locks are taken first, each kind in one order.
create function branchpoint.append(
  p_stream bigint, p_holder uuid, p_n bigint, p_mark text,
  p_names text[], p_repositories text[], p_rounds jsonb, p_packed bytea
) returns jsonb language plpgsql
set jit = off set plan_cache_mode = force_generic_plan set search_path = pg_catalog as $$
declare
  there record;
  round jsonb;
  problems jsonb;
  refusals jsonb := '{}';
  written jsonb;
  outcomes jsonb := '{}';
begin
  -- A server that was at work when the database was brought up sends items without rounds, or rounds that are not flat.
  if jsonb_array_length(p_rounds) > 0 and not coalesce(p_rounds -> 0 ? 'moves', false) then
    raise exception 'the schema of this database is of a newer version than this server: stop it, and start that version';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a batch can be compared only in a transaction with the isolation level read committed';
  end if;
  perform pg_advisory_xact_lock(keys.key) from (
    select distinct hashtextextended(name, 0) as key from unnest(p_names) as name order by key) as keys;
  perform from branchpoint.repositories where path = any (p_repositories) order by id for update;
  select n, holder into there from branchpoint.streams where id = p_stream for update;
  if not found or there.holder <> p_holder or there.n <> p_n - 1 then
    raise exception 'stream % is at % of %', p_stream, there.n, there.holder using errcode = 'BP001';
  end if;
  for round in select value from jsonb_array_elements(p_rounds) loop
    problems := branchpoint.problems_of(round);
    refusals := refusals || problems;
    written := branchpoint.apply_writes(round, problems, p_packed);
    insert into branchpoint.journal (stream, n, item, what)
      select p_stream, p_n, item,
          jsonb_build_object('notes', notes, 'writes', coalesce(written -> item::text, '[]'))
            || case when moved is null and purged is null then '{}' else branchpoint.apply_removal(moved, purged) end
        from jsonb_to_recordset(round -> 'items') as i (item int, notes jsonb, moved jsonb, purged jsonb)
        where not problems ? item::text;
    outcomes := outcomes || problems || (
      select coalesce(jsonb_object_agg(item, jsonb_build_object(
          'versions', jsonb_path_query_array(coalesce(written -> item::text, '[]'), '$[*].version'))), '{}')
        from jsonb_to_recordset(round -> 'items') as i (item int)
        where not problems ? item::text);
  end loop;
  update branchpoint.streams set n = p_n, mark = p_mark, refused = refusals, beat = now() where id = p_stream;
  return (select jsonb_agg(value order by key::int) from jsonb_each(outcomes));
end $$;

alter function branchpoint.apply_removal(jsonb, jsonb) set jit = off;
alter function branchpoint.apply_removal(jsonb, jsonb) set search_path = pg_catalog;
alter function branchpoint.keep_notes() set jit = off;
alter function branchpoint.keep_notes() set search_path = pg_catalog;
alter function branchpoint.change_documents(text, text, text, text[], text[], bytea, integer[], integer[], bigint[], text[], bigint[]) set jit = off;
alter function branchpoint.change_documents(text, text, text, text[], text[], bytea, integer[], integer[], bigint[], text[], bigint[]) set search_path = pg_catalog;
alter function branchpoint.make_span_day(text) set search_path = pg_catalog;
alter function branchpoint.record_spans(text, text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bytea, integer[], integer[]) set jit = off;
alter function branchpoint.record_spans(text, text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bytea, integer[], integer[]) set search_path = pg_catalog;
`
