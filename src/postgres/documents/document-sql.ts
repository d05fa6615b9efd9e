/** What is asked of the tables of document-schema.ts. */

export const CHANGE = `select * from change_documents($1, $2, $3, $4, $5, $6, $7, $8)`

export const NEWER = `
select d.path, d.mode, p.version, p.is_whole, p.bytes
from unnest($1::text[], $2::bigint[]) as k (path, version)
join documents d on d.path = k.path
join document_parts p on p.path = k.path and p.version > k.version
order by p.path, p.version`

export const SUMMARIES = `
select d.path, d.version, md5(coalesce(string_agg(p.bytes, ''::bytea order by p.version), ''::bytea)) as digest
from documents d left join document_parts p on p.path = d.path
group by d.path`

export const POSITIONS = `select stream, n, trimmed from document_streams`

export const ENTRIES = `
select l.path, l.version, l.is_removed
from unnest($1::text[], $2::bigint[], $3::bigint[]) as w (stream, read, n)
join document_log l on l.stream = w.stream and l.n > w.read and l.n <= w.n`

export const TRIM = `
with gone as (
  delete from document_log where at < clock_timestamp() - $1 * interval '1 millisecond' returning stream, n
), last as (
  select stream, max(n) as n from gone group by stream
)
update document_streams s set trimmed = greatest(s.trimmed, last.n) from last where last.stream = s.stream`

export const TAKE_LEASE = `
insert into leases as l (name, holder, token, until)
values ($1, $2, nextval('lease_tokens'), clock_timestamp() + $3 * interval '1 millisecond')
on conflict (name) do update set holder = excluded.holder, token = excluded.token, until = excluded.until
where l.until <= clock_timestamp()
returning token`

export const RENEW_LEASE = `
update leases set until = clock_timestamp() + $3 * interval '1 millisecond'
where name = $1 and token = $2 returning token`

export const DROP_LEASE = `delete from leases where name = $1 and token = $2`

export const IS_LEASED = `select 1 from leases where name = $1 and until > clock_timestamp()`

export const SWEEP_LEASES = `delete from leases where until < clock_timestamp() - interval '1 hour'`
