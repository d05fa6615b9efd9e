import { type HintDialect, sqlOfHint, STAND_IN } from '../../feeds/traces.ts'
import type { NamedRow, WalkOf, WalkStep } from './span-table.ts'

/** Statements on the tables of migrations/0003-spans.ts. */

export const RECORD = `
select branchpoint.record_spans($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) as missing`

/**
 * As RECORD, and notes how far a file was imported. If that is already noted, the spans were recorded and only the answer was lost. The note
 * is the mark of a document stream that is otherwise unused.
 */
export const RECORD_UP_TO = `
with recorded as (
  select case when exists (select from branchpoint.document_streams where stream = $16 and mark = $17) then null
    else branchpoint.record_spans($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) end as missing
), noted as (
  insert into branchpoint.document_streams (stream, mark) select $16, $17 from recorded where missing is null
  on conflict (stream) do update set mark = excluded.mark
)
select missing from recorded`

export const BROUGHT_UP_TO = `select mark from branchpoint.document_streams where stream = $1`

export const FORGET_BROUGHT = `delete from branchpoint.document_streams where stream = $1`

export const MAKE_DAY = `select branchpoint.make_span_day($1)`

const IN_TRACE = `s.project = t.project and s.day = t.day and s.trace_id = t.trace_id`

/**
 * OFFSET 0 makes PostgreSQL read the tables in this order, trace by trace by key, until there are enough rows. Its estimates for tables that
 * just grew could make it read all of them.
 */
const SPANS_IN_TRACE = `lateral (select * from branchpoint.spans s where ${IN_TRACE} offset 0) s`

const OF_TRACES = `
select s.trace_id, s.span_id, s.parent_id, s.span_name, s.record
from unnest($2::text[]) with ordinality as a (trace_id, place)
cross join lateral (select * from branchpoint.traces t where t.project = $1 and t.trace_id = a.trace_id offset 0) t
cross join ${SPANS_IN_TRACE}`

const IN_ORDER = `
order by a.place, s.start_time, s.id`

export const SPANS_OF = `${OF_TRACES}${IN_ORDER}`

export const HEADS_OF = `${OF_TRACES}
where s.parent_id is null or s.parent_id = s.span_id or not exists (
  select 1 from branchpoint.spans p
  where p.project = s.project and p.day = s.day and p.trace_id = s.trace_id and p.span_id = s.parent_id
)${IN_ORDER}`

/** Ten at a time, because each may be large. */
export const SPANS_WITH = `
select s.day, s.trace_id as "traceId", s.span_id as "spanId", s.record from branchpoint.spans s
where s.project = $1 and strpos(s.record, $2) > 0
  and ($3::text is null or (s.day, s.trace_id, s.span_id) > ($3, $4, $5))
order by s.day, s.trace_id, s.span_id limit 10`

/** Waits for transactions that record spans of these traces. */
export const LOCK_TRACES = `
select from branchpoint.traces where project = $1 and trace_id = any ($2) order by trace_id for update`

/** Run it after LOCK_TRACES as a statement of its own, so that it sees the spans that were waited for. */
export const REMOVE = `
with gone as (
  delete from branchpoint.traces where project = $1 and trace_id = any ($2) returning project, day, trace_id
), spans as (
  delete from branchpoint.spans s using gone where s.project = gone.project and s.day = gone.day and s.trace_id = gone.trace_id
)
select count(*) as count from gone`

/** The bytes of a project's traces; 0, without counting, if all partitions together are below the limit. */
export const SIZE = `
select case when (
  select coalesce(sum(pg_total_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'branchpoint.spans'::regclass
) > $2 then (select coalesce(sum(bytes), 0) from branchpoint.traces where project = $1) else 0 end as bytes`

/** Some of the oldest traces, with this many bytes in total. */
export const OLDEST = `
with oldest as (
  select trace_id, start_time, bytes from branchpoint.traces where project = $1 order by start_time, trace_id limit $3
), ranked as (
  select trace_id, sum(bytes) over (order by start_time, trace_id) - bytes as before from oldest
)
select trace_id from ranked where before < $2`

/** The earliest day before a given one that has a partition. */
export const OLDEST_DAY = `
select substr(c.relname, 7) as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'branchpoint.spans'::regclass and substr(c.relname, 7) < $1 collate "C"
order by 1 limit 1`

/** Deletes some of the traces of a day; their spans go with the partition. */
export const FORGET_DAY = `
with gone as (
  delete from branchpoint.traces where ctid = any (array(
    select ctid from branchpoint.traces where day = $1 limit $2
  )) returning 1
)
select count(*) as count from gone`

interface Question {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The columns that order a walk, after the project. */
const ORDERS: Readonly<Record<WalkOf, readonly string[]>> = {
  traces: ['s.start_time', 's.trace_id'],
  spansByTrace: ['t.start_time', 't.trace_id', 's.span_id'],
  spans: ['s.start_time', 's.span_id'],
}

const SPAN_COLUMNS = 's.trace_id, s.span_id, s.parent_id, s.span_name, s.record'

const FROM: Readonly<Record<WalkOf, string>> = {
  traces: `select s.trace_id, '' as span_id, null as parent_id, '' as span_name, '' as record, s.start_time as start
from branchpoint.traces s where s.project = $1`,
  spansByTrace: `select ${SPAN_COLUMNS}, t.start_time as start
from branchpoint.traces t cross join ${SPANS_IN_TRACE} where t.project = $1`,
  spans: `select ${SPAN_COLUMNS}, s.start_time as start from branchpoint.spans s where s.project = $1`,
}

/** The query for the next rows of a walk. */
export function walkQuestion(project: string, step: WalkStep): Question {
  const values: unknown[] = [project]
  const bind = (value: string | number): string => `$${values.push(value)}`
  const order = ORDERS[step.of]
  const [start = ''] = order
  const { hint, from, to, sampleBound, behind, isAscending } = step
  const traceId = step.of === 'spansByTrace' ? 't.trace_id' : 's.trace_id'
  const conditions = [
    ...(hint ? [sqlOfHint(hint, dialect(bind))] : []),
    ...(from === undefined ? [] : [`${start} >= ${bind(from)}`]),
    ...(to === undefined ? [] : [`${start} ${to.isIncluded ? '<=' : '<'} ${bind(to.time)}`]),
    ...(sampleBound === undefined ? [] : [`right(${traceId}, 8) < ${bind(sampleBound)}`]),
    ...(behind === undefined
      ? []
      : [
          `(${order.slice(0, behind.length).join()}) ${isAscending ? '>' : '<'} (${behind.map(bind).join()})`,
        ]),
  ]
  const direction = isAscending ? 'asc' : 'desc'
  return {
    text: `${[FROM[step.of], ...conditions].join('\n  and ')}
order by ${order.map((column) => `${column} ${direction}`).join()} limit ${bind(step.limit)}`,
    values,
  }
}

function dialect(bind: (value: string) => string): HintDialect {
  return {
    bind: (value) => bind(withoutNul(value)),
    has: (text, part) => `strpos(${text}, ${part}) > 0`,
  }
}

/** The query for the position of the row that a cursor names. */
export function placeQuestion(project: string, named: NamedRow): Question {
  if (!('traceId' in named))
    return {
      text: 'select start_time as start, span_id as id from branchpoint.spans where project = $1 and start_time = $2 and span_id = $3 limit 1',
      values: [project, named.start, named.spanId],
    }
  if (named.spanId === undefined)
    return {
      text: 'select start_time as start, trace_id as id from branchpoint.traces where project = $1 and trace_id = $2',
      values: [project, named.traceId],
    }
  return {
    text: `select s.start_time as start, s.span_id as id from branchpoint.traces t join branchpoint.spans s on ${IN_TRACE}
      where t.project = $1 and t.trace_id = $2 and s.span_id = $3`,
    values: [project, named.traceId, named.spanId],
  }
}

/** Replaces U+0000, which PostgreSQL cannot store. Records do not need this, because JSON escapes it. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', STAND_IN)
}
