/**
 * Checks and applies a batch in a few statements for all of its items, instead of thirty per item. Items come in rounds; items of one round
 * do not affect each other (see encodeBatch), so their order does not matter.
 *
 * Rows are found one by one by their keys, with `limit 1` and `any (array (…))`; `exists` would become a join. The planner assumes a hundred
 * items per round, and would scan a whole table for a join of that size. Plans do not depend on the values, so each connection plans once
 * (`force_generic_plan`) instead of six times.
 */
export const FIFTH_MIGRATION = `
drop function branchpoint.append(bigint, uuid, bigint, text, text[], text[], jsonb, bytea);
drop function branchpoint.apply_item(jsonb, bytea);
drop function branchpoint.apply_write(jsonb, bytea);
drop function branchpoint.problem_of(jsonb);

-- Why items cannot happen, by their numbers; those that can are not in the answer.
create function branchpoint.problems_of(p_items jsonb) returns jsonb language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  return (
    with items as materialized (
      select * from jsonb_to_recordset(p_items)
        as i (item int, writes jsonb, needs jsonb, seen jsonb, moved jsonb, purged jsonb)
    ), writes as materialized (
      select item, place, repository, head, moves, claims, id, coalesce(state, 'purged') as state
        from items
        cross join lateral rows from (
          jsonb_to_recordset(writes) as (repository text, head text, moves jsonb, claims jsonb)
        ) with ordinality as w (repository, head, moves, claims, place)
        left join lateral (
          select id, state from branchpoint.repositories where path = repository limit 1) as there on true
    ), problems as (
      select item, place, 1 as step, case when head is null then 'moved' else 'claimed' end as refused, repository as what
        from writes
        where state <> case when head is null then 'live' else 'purged' end
      union all
      select item, place, 2, 'moved', ref
        from writes, jsonb_to_recordset(moves) as m (ref text, expected text)
        where head is null and ref <> 'HEAD' and expected is distinct from (
          select oid from branchpoint.refs where refs.repository = id and refs.name = ref)
      union all
      select item, place, 3, 'claimed', claim
        from writes, jsonb_to_recordset(claims) as c (name text, "mustBeFree" boolean),
          lateral (select split_part(repository, '/', 1) as project, name as claim) as claimed
        where "mustBeFree" and (
          select true from branchpoint.names where names.project = claimed.project and names.name = claim limit 1)
      union all
      select item, null, 4, 'moved', needed
        from items, jsonb_array_elements_text(needs) as needed
        where (select state from branchpoint.repositories where path = needed) is distinct from 'live'
      union all
      select item, null, 5, 'moved', repository
        from items, jsonb_to_recordset(seen) as s (repository text, version bigint)
        where version is distinct from (
          select there.version from branchpoint.repositories as there where path = repository and state <> 'purged')
      union all
      select item, null, 6, 'moved', moved ->> 'repository'
        from items
        where moved is not null and case when (moved ->> 'isToTrash')::boolean then 'live' else 'trashed' end
          is distinct from (select state from branchpoint.repositories where path = moved ->> 'repository')
      union all
      select item, null, 7, 'moved', purged ->> 'repository'
        from items
        where purged is not null and 'trashed'
          is distinct from (select state from branchpoint.repositories where path = purged ->> 'repository')
    ), chosen as (
      select distinct on (item) item, refused, what from problems order by item, place, step
    )
    select coalesce(jsonb_object_agg(item, jsonb_build_object('refused', refused, 'what', what)), '{}') from chosen);
end $$;

-- Does what items write, but for those that have problems; answers each one's writes as the journal has them, by its number.
create function branchpoint.apply_writes(p_items jsonb, p_problems jsonb, p_packed bytea) returns jsonb language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  done jsonb;
  ended record;
  large record;
begin
  with writes as materialized (
    select item, place, path, head, moves, claims, pack, array(select jsonb_array_elements_text(staged)::bigint) as staged
      from jsonb_to_recordset(p_items) as i (item int, writes jsonb)
      cross join lateral rows from (
        jsonb_to_recordset(writes) as (repository text, head text, moves jsonb, claims jsonb, pack jsonb, staged jsonb)
      ) with ordinality as w (path, head, moves, claims, pack, staged, place)
      where not p_problems ? item::text
  ), moves as materialized (
    select path, ref, target from writes, jsonb_to_recordset(moves) as m (ref text, target text)
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
        from writes join touched using (path), jsonb_to_recordset(claims) as c (name text, "isTaken" boolean)
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
  ), told as (
    select item, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'repository', path,
        'version', version,
        'moves', moves,
        'packs', array(select name from branchpoint.packs where id = any (staged)) || array(select pack ->> 'name' where pack is not null),
        'head', head)) order by place) as writes
      from writes join touched using (path)
      group by item
  )
  select coalesce(jsonb_object_agg(item, told.writes), '{}') into done from told;
  for ended in
    select w.repository as path, ref
      from jsonb_to_recordset(p_items) as i (item int, writes jsonb),
        jsonb_to_recordset(writes) as w (repository text, moves jsonb), jsonb_to_recordset(moves) as m (ref text, target text)
      where target is null and not p_problems ? item::text
  loop
    delete from branchpoint.refs using branchpoint.repositories
      where repositories.path = ended.path and refs.repository = repositories.id and refs.name = ended.ref;
  end loop;
  for large in
    select w.repository as path, pack::bigint
      from jsonb_to_recordset(p_items) as i (item int, writes jsonb),
        jsonb_to_recordset(writes) as w (repository text, staged jsonb), jsonb_array_elements_text(staged) as pack
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

-- Moves the repository of an item to the trash, or back, or has it go for good; answers that as the journal has it.
create function branchpoint.apply_removal(moved jsonb, purged jsonb) returns jsonb language plpgsql as $$
declare
  gone bigint;
  made bigint;
begin
  if purged is null then
    update branchpoint.repositories
      set version = version + 1,
        state = case when (moved ->> 'isToTrash')::boolean then 'trashed' else 'live' end,
        stamp = case when (moved ->> 'isToTrash')::boolean then moved ->> 'stamp' end
      where path = moved ->> 'repository'
      returning version into made;
    return jsonb_build_object('moved', moved || jsonb_build_object('version', made));
  end if;
  update branchpoint.repositories set version = version + 1, state = 'purged', stamp = null
    where path = purged ->> 'repository'
    returning id, version into gone, made;
  delete from branchpoint.refs where repository = gone;
  delete from branchpoint.names where repository = gone;
  delete from branchpoint.packs where repository = gone;
  return jsonb_build_object('purged', purged || jsonb_build_object('version', made));
end $$;

-- Appends a batch to a stream: what cannot happen is refused by itself, and everything else happens. Answers what became of each
-- item, in the order of their numbers. To be called in a transaction of its own, READ COMMITTED: each statement sees what was committed before it got the locks. All
-- locks are taken first, each kind in one order.
create function branchpoint.append(
  p_stream bigint, p_holder uuid, p_n bigint, p_mark text,
  p_names text[], p_repositories text[], p_rounds jsonb, p_packed bytea
) returns jsonb language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  there record;
  items jsonb;
  problems jsonb;
  written jsonb;
  outcomes jsonb := '{}';
begin
  -- A server that was at work when the database was brought up sends items without rounds.
  if jsonb_typeof(p_rounds -> 0) <> 'array' then
    raise exception 'the schema of this database is of a newer version than this server: stop it, and start that version';
  end if;
  perform pg_advisory_xact_lock(keys.key) from (
    select distinct hashtextextended(name, 0) as key from unnest(p_names) as name order by key) as keys;
  perform from branchpoint.repositories where path = any (p_repositories) order by id for update;
  select n, holder into there from branchpoint.streams where id = p_stream for update;
  if not found or there.holder <> p_holder or there.n <> p_n - 1 then
    raise exception 'stream % is at % of %', p_stream, there.n, there.holder using errcode = 'BP001';
  end if;
  for items in select value from jsonb_array_elements(p_rounds) loop
    problems := branchpoint.problems_of(items);
    written := branchpoint.apply_writes(items, problems, p_packed);
    insert into branchpoint.journal (stream, n, item, what)
      select p_stream, p_n, item,
          jsonb_build_object('notes', notes, 'writes', coalesce(written -> item::text, '[]'))
            || case when moved is null and purged is null then '{}' else branchpoint.apply_removal(moved, purged) end
        from jsonb_to_recordset(items) as i (item int, notes jsonb, moved jsonb, purged jsonb)
        where not problems ? item::text;
    outcomes := outcomes || problems || (
      select coalesce(jsonb_object_agg(item, jsonb_build_object(
          'versions', jsonb_path_query_array(coalesce(written -> item::text, '[]'), '$[*].version'))), '{}')
        from jsonb_to_recordset(items) as i (item int)
        where not problems ? item::text);
  end loop;
  update branchpoint.streams set n = p_n, mark = p_mark, beat = now() where id = p_stream;
  return (select jsonb_agg(value order by key::int) from jsonb_each(outcomes));
end $$;
`
