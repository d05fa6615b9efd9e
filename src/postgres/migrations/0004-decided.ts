/**
 * What a decision has to leave beside its refs (see DecisionNote) becomes a document in the same transaction, so that a folder that is filled
 * anew has it, too. These documents come in a stream of their own for each server, whose row is locked until the commit.
 */
export const FOURTH_MIGRATION = `
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
