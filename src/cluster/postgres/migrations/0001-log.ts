/**
 * The tables that the servers of a database share, in the schema `branchpoint`: repositories with refs, packs and names, and the journal of
 * all decisions.
 */
export const FIRST_MIGRATION = `
create table branchpoint.repositories (
  id bigint generated always as identity primary key,
  -- Its folder relative to the store, also while it lies in the trash; one that comes after it is the same row.
  path text collate "C" not null unique,
  version bigint not null,
  state text not null check (state in ('live', 'trashed', 'purged')),
  -- What trashed.json holds.
  stamp text,
  head text not null
);

create table branchpoint.refs (
  repository bigint not null references branchpoint.repositories,
  name text collate "C" not null,
  oid text collate "C" not null,
  primary key (repository, name)
);

-- Slugs and ids, which a project has once unless a push brought them.
create table branchpoint.names (
  project text collate "C" not null,
  name text collate "C" not null,
  repository bigint not null references branchpoint.repositories,
  primary key (project, name, repository)
);
create index names_of_repository on branchpoint.names (repository);

create table branchpoint.packs (
  id bigint generated always as identity primary key,
  -- Absent until something that was decided names it.
  repository bigint references branchpoint.repositories,
  name text collate "C" not null,
  size bigint not null,
  made timestamptz not null default now()
);
create unique index packs_by_name on branchpoint.packs (repository, name) where repository is not null;
create index packs_staged on branchpoint.packs (made) where repository is null;

create table branchpoint.pack_parts (
  pack bigint not null references branchpoint.packs on delete cascade,
  part int not null,
  bytes bytea not null,
  primary key (pack, part)
);
-- Packs are deflated already.
alter table branchpoint.pack_parts alter column bytes set storage external;

-- A row for each folder that follows: how many batches its server has appended, which was the last, and whose it is now.
create table branchpoint.streams (
  id bigint generated always as identity primary key,
  holder uuid not null,
  n bigint not null default 0,
  mark text not null default '',
  -- The last batch of which the journal has nothing any more.
  trimmed bigint not null default 0,
  beat timestamptz not null default now()
) with (fillfactor = 50);

create table branchpoint.journal (
  stream bigint not null,
  n bigint not null,
  item int not null,
  what jsonb not null,
  at timestamptz not null default now(),
  primary key (stream, n, item)
);
create index journal_by_age on branchpoint.journal (at);

-- Why an item of a batch cannot happen; null where it can.
create function branchpoint.problem_of(item jsonb) returns jsonb language plpgsql as $$
declare
  write jsonb;
  there record;
  what text;
begin
  for write in select value from jsonb_array_elements(item -> 'writes') loop
    select id, state into there from branchpoint.repositories where path = write ->> 'repository';
    if write ? 'head' then
      if found and there.state <> 'purged' then
        return jsonb_build_object('refused', 'claimed', 'what', write ->> 'repository');
      end if;
    elsif not found or there.state <> 'live' then
      return jsonb_build_object('refused', 'moved', 'what', write ->> 'repository');
    else
      select moved.ref into what
        from jsonb_to_recordset(write -> 'moves') as moved (ref text, expected text)
        left join branchpoint.refs on refs.repository = there.id and refs.name = moved.ref
        where moved.ref <> 'HEAD' and refs.oid is distinct from moved.expected
        limit 1;
      if found then
        return jsonb_build_object('refused', 'moved', 'what', what);
      end if;
    end if;
    select claim.name into what
      from jsonb_to_recordset(write -> 'claims') as claim (name text, "mustBeFree" boolean)
      where claim."mustBeFree" and exists (
        select from branchpoint.names
          where names.project = split_part(write ->> 'repository', '/', 1) and names.name = claim.name)
      limit 1;
    if found then
      return jsonb_build_object('refused', 'claimed', 'what', what);
    end if;
  end loop;
  select needed into what from jsonb_array_elements_text(item -> 'needs') as needed
    where not exists (select from branchpoint.repositories where path = needed and state = 'live')
    limit 1;
  if found then
    return jsonb_build_object('refused', 'moved', 'what', what);
  end if;
  select seen.repository into what
    from jsonb_to_recordset(item -> 'seen') as seen (repository text, version bigint)
    left join branchpoint.repositories on path = seen.repository and state <> 'purged'
    where repositories.version is distinct from seen.version
    limit 1;
  if found then
    return jsonb_build_object('refused', 'moved', 'what', what);
  end if;
  if item ? 'moved' and not exists (
    select from branchpoint.repositories
      where path = item -> 'moved' ->> 'repository'
        and state = case when (item -> 'moved' ->> 'isToTrash')::boolean then 'live' else 'trashed' end) then
    return jsonb_build_object('refused', 'moved', 'what', item -> 'moved' ->> 'repository');
  end if;
  if item ? 'purged' and not exists (
    select from branchpoint.repositories
      where path = item -> 'purged' ->> 'repository' and state = 'trashed') then
    return jsonb_build_object('refused', 'moved', 'what', item -> 'purged' ->> 'repository');
  end if;
  return null;
end $$;

-- Does what an item says in one repository; answers it as the journal has it.
create function branchpoint.apply_write(write jsonb, packed bytea) returns jsonb language plpgsql as $$
declare
  repository_path text := write ->> 'repository';
  repository_id bigint;
  new_version bigint;
  pack_id bigint;
  staged bigint[] := array(select value::bigint from jsonb_array_elements_text(write -> 'staged'));
  pack_names text[];
begin
  if write ? 'head' then
    insert into branchpoint.repositories as there (path, version, state, head)
      values (repository_path, 1, 'live', write ->> 'head')
      on conflict (path) do update
        set version = there.version + 1, state = 'live', stamp = null, head = excluded.head
      returning id, version into repository_id, new_version;
  else
    update branchpoint.repositories
      set version = version + 1,
        head = coalesce(
          (select substr(moved.target, length('ref: refs/heads/') + 1)
            from jsonb_to_recordset(write -> 'moves') as moved (ref text, target text)
            where moved.ref = 'HEAD'),
          head)
      where path = repository_path
      returning id, version into repository_id, new_version;
  end if;
  delete from branchpoint.refs
    using jsonb_to_recordset(write -> 'moves') as moved (ref text, target text)
    where refs.repository = repository_id and refs.name = moved.ref and moved.target is null;
  insert into branchpoint.refs (repository, name, oid)
    select repository_id, moved.ref, moved.target
      from jsonb_to_recordset(write -> 'moves') as moved (ref text, target text)
      where moved.ref <> 'HEAD' and moved.target is not null
    on conflict (repository, name) do update set oid = excluded.oid;
  insert into branchpoint.names (project, name, repository)
    select split_part(repository_path, '/', 1), claim.name, repository_id
      from jsonb_to_recordset(write -> 'claims') as claim (name text, "isTaken" boolean)
      where claim."isTaken"
    on conflict do nothing;
  if write ? 'pack' then
    insert into branchpoint.packs (repository, name, size)
      values (repository_id, write -> 'pack' ->> 'name', (write -> 'pack' ->> 'size')::bigint)
      on conflict (repository, name) where repository is not null do nothing
      returning id into pack_id;
    if found then
      insert into branchpoint.pack_parts (pack, part, bytes)
        values (pack_id, 0, substring(packed from (write -> 'pack' ->> 'from')::int + 1 for (write -> 'pack' ->> 'size')::int));
    end if;
  end if;
  pack_names := array(select name from branchpoint.packs where id = any (staged) and repository is null);
  if cardinality(pack_names) <> cardinality(staged) then
    raise exception 'a pack of % was staged too long ago', repository_path using errcode = 'BP002';
  end if;
  update branchpoint.packs as large set repository = repository_id
    where large.id = any (staged) and not exists (
      select from branchpoint.packs as there
        where there.repository = repository_id and there.name = large.name);
  if write ? 'pack' then
    pack_names := pack_names || (write -> 'pack' ->> 'name');
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'repository', repository_path,
    'version', new_version,
    'moves', write -> 'moves',
    'packs', to_jsonb(pack_names),
    'head', write -> 'head'));
end $$;

-- Does what an item says; answers it as the journal has it.
create function branchpoint.apply_item(item jsonb, packed bytea) returns jsonb language plpgsql as $$
declare
  done jsonb := jsonb_build_object('notes', item -> 'notes');
  purged_id bigint;
  new_version bigint;
begin
  done := done || jsonb_build_object(
    'writes', (select coalesce(jsonb_agg(branchpoint.apply_write(value, packed) order by number), '[]')
      from jsonb_array_elements(item -> 'writes') with ordinality as writes (value, number)));
  if item ? 'moved' then
    update branchpoint.repositories
      set version = version + 1,
        state = case when (item -> 'moved' ->> 'isToTrash')::boolean then 'trashed' else 'live' end,
        stamp = case when (item -> 'moved' ->> 'isToTrash')::boolean then item -> 'moved' ->> 'stamp' end
      where path = item -> 'moved' ->> 'repository'
      returning version into new_version;
    done := done || jsonb_build_object('moved', (item -> 'moved') || jsonb_build_object('version', new_version));
  end if;
  if item ? 'purged' then
    update branchpoint.repositories set version = version + 1, state = 'purged', stamp = null
      where path = item -> 'purged' ->> 'repository'
      returning id, version into purged_id, new_version;
    delete from branchpoint.refs where repository = purged_id;
    delete from branchpoint.names where repository = purged_id;
    delete from branchpoint.packs where repository = purged_id;
    done := done || jsonb_build_object('purged', (item -> 'purged') || jsonb_build_object('version', new_version));
  end if;
  return done;
end $$;

-- Appends a batch to a stream: what cannot happen is refused by itself, and everything else happens. To be called in a transaction of its
-- own, READ COMMITTED: each statement sees what was committed before it got the locks. All locks are taken first, each kind in one order.
create function branchpoint.append(
  p_stream bigint, p_holder uuid, p_n bigint, p_mark text,
  p_names text[], p_repositories text[], p_items jsonb, p_packed bytea
) returns jsonb language plpgsql as $$
declare
  there record;
  item jsonb;
  number int := 0;
  problem jsonb;
  done jsonb;
  outcomes jsonb := '[]';
begin
  perform pg_advisory_xact_lock(keys.key) from (
    select distinct hashtextextended(name, 0) as key from unnest(p_names) as name order by key) as keys;
  perform from branchpoint.repositories where path = any (p_repositories) order by id for update;
  select n, holder into there from branchpoint.streams where id = p_stream for update;
  if not found or there.holder <> p_holder or there.n <> p_n - 1 then
    raise exception 'stream % is at % of %', p_stream, there.n, there.holder using errcode = 'BP001';
  end if;
  for item in select value from jsonb_array_elements(p_items) loop
    problem := branchpoint.problem_of(item);
    if problem is null then
      done := branchpoint.apply_item(item, p_packed);
      insert into branchpoint.journal (stream, n, item, what) values (p_stream, p_n, number, done);
      outcomes := outcomes || jsonb_build_object('versions', (
        select coalesce(jsonb_agg(value -> 'version'), '[]') from jsonb_array_elements(done -> 'writes')));
    else
      outcomes := outcomes || problem;
    end if;
    number := number + 1;
  end loop;
  update branchpoint.streams set n = p_n, mark = p_mark, beat = now() where id = p_stream;
  return outcomes;
end $$;
`
