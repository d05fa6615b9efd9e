/** Statements on the tables of migrations/0002-documents.ts. */

export const CHANGE = `select * from branchpoint.change_documents($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

export const BEGIN_STREAM = `insert into branchpoint.document_streams (stream) values ($1) on conflict do nothing`

/** Waits for a call that is still running. */
export const MARK = `select mark from branchpoint.document_streams where stream = $1 for update`

export const MADE = `select item, version from branchpoint.document_log where stream = $1 and mark = $2`

export const NEWER = `
select d.path, d.mode, p.version, p.is_whole, p.bytes
from unnest($1::text[], $2::bigint[]) as k (path, version)
join branchpoint.documents d on d.path = k.path
join branchpoint.document_parts p on p.path = k.path and p.version > k.version
order by p.path, p.version`

export const SUMMARIES = `
select d.path, d.version, md5(coalesce(string_agg(p.bytes, ''::bytea order by p.version), ''::bytea)) as digest
from branchpoint.documents d left join branchpoint.document_parts p on p.path = d.path
group by d.path`

export const POSITIONS = `select stream, n, trimmed from branchpoint.document_streams`

export const ENTRIES = `
select l.path, l.version, l.is_removed
from unnest($1::text[], $2::bigint[], $3::bigint[]) as w (stream, read, n)
join branchpoint.document_log l on l.stream = w.stream and l.n > w.read and l.n <= w.n`

export const TRIM = `
with gone as (
  delete from branchpoint.document_log where at < clock_timestamp() - $1 * interval '1 millisecond' returning stream, n
), last as (
  select stream, max(n) as n from gone group by stream
)
update branchpoint.document_streams s set trimmed = greatest(s.trimmed, last.n) from last where last.stream = s.stream`

export const TAKE_LEASE = `
insert into branchpoint.leases as l (name, holder, token, until, note)
values ($1, $2, nextval('branchpoint.lease_tokens'), clock_timestamp() + $3 * interval '1 millisecond', $4)
on conflict (name) do update
set holder = excluded.holder, token = excluded.token, until = excluded.until, note = excluded.note
where l.until <= clock_timestamp()
returning token`

export const RENEW_LEASE = `
update branchpoint.leases set until = clock_timestamp() + $3 * interval '1 millisecond'
where name = $1 and token = $2 returning token`

export const DROP_LEASE = `delete from branchpoint.leases where name = $1 and token = $2`

export const IS_LEASED = `select 1 from branchpoint.leases where name = $1 and until > clock_timestamp()`

/** Names in a folder: those from the folder's prefix up to the same with `0` in place of the slash, which is the next character. */
export const LEASED_IN = `
select substr(name, length($1) + 1) as name from branchpoint.leases
where name >= $1 and name < overlay($1 placing '0' from length($1)) and position('/' in substr(name, length($1) + 1)) = 0
  and until > clock_timestamp()`

export const ABANDONED = `select name, note from branchpoint.leases where note is not null and until <= clock_timestamp()`

export const SWEEP_LEASES = `delete from branchpoint.leases where note is null and until < clock_timestamp() - interval '1 hour'`
