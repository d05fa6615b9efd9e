/**
 * The tables of traces, in the schema `branchpoint`. A trace is a row of `traces`, with its order and the bytes of its records, and rows of
 * `spans`. `spans` is partitioned by day: all spans of a trace are in the partition of the day of its first recorded span, so that each trace
 * is in one partition and a day is removed by one drop. Partitions are created when needed. Times are texts in the form of `isoOf` (27
 * characters, UTC), which sort by time. `record` is JSON as text: jsonb changes numbers and the order of keys, and cannot hold U+0000.
 *
 * `record_spans` stores spans of a project in one statement. If days have no partition yet, it stores nothing and answers those days. It
 * locks traces in the order of their ids, so that servers do not deadlock. Records come as one value with their lengths, because the elements
 * of a text array would be quoted and unquoted.
 */
export const THIRD_MIGRATION = `
create table branchpoint.traces (
  project text collate "C" not null,
  trace_id text collate "C" not null,
  start_time text collate "C" not null,
  day text collate "C" not null,
  bytes bigint not null,
  primary key (project, trace_id)
);
create index traces_by_start on branchpoint.traces (project, start_time, trace_id);
create index traces_by_day on branchpoint.traces (day);
create sequence branchpoint.span_ids;
create table branchpoint.spans (
  project text collate "C" not null,
  day text collate "C" not null,
  trace_id text collate "C" not null,
  span_id text collate "C" not null,
  id bigint not null default nextval('branchpoint.span_ids'),
  parent_id text collate "C",
  trace_type text collate "C" not null,
  span_type text collate "C" not null,
  span_name text collate "C" not null,
  start_time text collate "C" not null,
  status_code text collate "C" not null,
  session_id text collate "C",
  record text collate "C" not null,
  primary key (project, day, trace_id, span_id)
) partition by list (day);
alter table branchpoint.spans alter column record set storage external;
create index spans_by_start on branchpoint.spans (project, start_time, span_id);

create function branchpoint.make_span_day(p_day text) returns void
language plpgsql as $$
declare
  partition text := 'spans_' || p_day;
begin
  perform pg_advisory_xact_lock(hashtextextended('branchpoint.spans', 0));
  if to_regclass(format('branchpoint.%I', partition)) is null then
    -- Attached and not made as a partition: nobody who reads or writes waits for that, nor is waited for.
    execute format('create table branchpoint.%I (like branchpoint.spans including all) with (toast_tuple_target = 8160)', partition);
    execute format('alter table branchpoint.spans attach partition branchpoint.%I for values in (%L)', partition, p_day);
  end if;
end $$;

create function branchpoint.record_spans(
  p_project text, p_traces text[], p_starts text[], p_trace_ids text[], p_span_ids text[], p_parent_ids text[], p_trace_types text[],
  p_span_types text[], p_span_names text[], p_start_times text[], p_status_codes text[], p_session_ids text[], p_packed bytea,
  p_offsets integer[], p_lengths integer[]
) returns text[]
language plpgsql as $$
declare
  missing text[];
  known text[];
  days text[];
  older text[];
begin
  select array_agg(distinct left(start, 10)) into missing from unnest(p_starts) as t (start)
    where to_regclass(format('branchpoint.%I', 'spans_' || left(start, 10))) is null;
  if missing is not null then
    return missing;
  end if;
  with sent as (
    select t.id, t.start, t.place from unnest(p_traces, p_starts) with ordinality as t (id, start, place)
  ), sizes as (
    select s.trace_id, sum(s.length + 400) as bytes from unnest(p_trace_ids, p_lengths) as s (trace_id, length) group by s.trace_id
  ), stored as (
    insert into branchpoint.traces as t (project, trace_id, start_time, day, bytes)
    select p_project, sent.id, sent.start, left(sent.start, 10), sizes.bytes from sent join sizes on sizes.trace_id = sent.id order by sent.id
    on conflict (project, trace_id) do update
    set start_time = least(t.start_time, excluded.start_time), bytes = t.bytes + excluded.bytes
    returning t.trace_id, t.day, t.xmax <> 0 as was_there
  )
  select array_agg(stored.trace_id), array_agg(stored.day), array_agg(stored.trace_id) filter (where stored.was_there)
    into known, days, older from stored;
  if older is not null then
    -- What is overwritten does not count twice.
    update branchpoint.traces t set bytes = t.bytes - o.bytes
    from (
      select s.trace_id, sum(octet_length(s.record) + 400) as bytes
      from unnest(known, days) as k (trace_id, day)
      join unnest(p_trace_ids, p_span_ids) as n (trace_id, span_id) on n.trace_id = k.trace_id
      cross join lateral (
        select * from branchpoint.spans s
        where s.project = p_project and s.day = k.day and s.trace_id = n.trace_id and s.span_id = n.span_id
        offset 0 -- one after the other, by their key, whatever is guessed of their number
      ) s
      where k.trace_id = any (older)
      group by s.trace_id
    ) o
    where t.project = p_project and t.trace_id = o.trace_id;
  end if;
  insert into branchpoint.spans as s (project, day, trace_id, span_id, parent_id, trace_type, span_type, span_name, start_time, status_code, session_id, record)
  select p_project, k.day, n.trace_id, n.span_id, n.parent_id, n.trace_type, n.span_type, n.span_name, n.start_time, n.status_code, n.session_id,
    convert_from(substr(p_packed, n.start, n.length), 'UTF8')
  from unnest(
    p_trace_ids, p_span_ids, p_parent_ids, p_trace_types, p_span_types, p_span_names, p_start_times, p_status_codes, p_session_ids, p_offsets, p_lengths
  ) with ordinality as n (
    trace_id, span_id, parent_id, trace_type, span_type, span_name, start_time, status_code, session_id, start, length, place
  ) join unnest(known, days) as k (trace_id, day) on k.trace_id = n.trace_id
  order by n.place
  on conflict (project, day, trace_id, span_id) do update
  set parent_id = excluded.parent_id, trace_type = excluded.trace_type, span_type = excluded.span_type, span_name = excluded.span_name,
    start_time = excluded.start_time, status_code = excluded.status_code, session_id = excluded.session_id, record = excluded.record;
  return null;
end $$;
`
