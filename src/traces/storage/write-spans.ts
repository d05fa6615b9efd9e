import type { ReferenceTexts } from '../recording/reference-texts.ts'
import type { StoredSpan } from './read-span-lines.ts'
import type { SqlValue, TraceFile } from './trace-file.ts'

/** Stores spans, all of them or none. One that is there already, by its trace and its own id, is overwritten (contract/handlers 5.4). */
export function writeSpans(file: TraceFile, spans: readonly StoredSpan[]): void {
  const starts = new Map<string, number>()
  for (const { traceId, startTime } of spans)
    starts.set(traceId, Math.min(starts.get(traceId) ?? startTime, startTime))
  file.transaction(() => {
    const texts = keepShared(file, spans)
    insert(file, TRACES, [...starts])
    insert(
      file,
      SPANS,
      spans.map((span) => valuesOf(span, texts)),
    )
  })
}

/** Stores the references that spans share, each once, and when the newest of these spans began; answers their rows. */
function keepShared(file: TraceFile, spans: readonly StoredSpan[]): ReadonlyMap<ReferenceTexts, number> {
  const newest = new Map<ReferenceTexts, number>()
  for (const { shared, startTime } of spans)
    if (shared) newest.set(shared, Math.max(newest.get(shared) ?? startTime, startTime))
  const ids = new Map<ReferenceTexts, number>()
  for (const [texts, time] of newest) {
    // RETURNING answers the row, new or not
    const [{ id }] = file.rows(KEEP, texts.members, texts.list, time) as [{ readonly id: number }]
    ids.set(texts, id)
  }
  return ids
}

const KEEP = `INSERT INTO reference_texts (members, list, newest) VALUES (?, ?, ?)
  ON CONFLICT (members) DO UPDATE SET newest = max(newest, excluded.newest) RETURNING id`

/**
 * The statements that store one row, a group of rows, and a group whose first columns are the same: half of a row's cost is that of a
 * call, and a third that of its values.
 */
interface Insertion {
  readonly one: string
  readonly group: string
  readonly alike: string
  /** How many columns are first. */
  readonly common: number
}

const GROUP = 50

function insert(file: TraceFile, insertion: Insertion, rows: readonly (readonly SqlValue[])[]): void {
  const { one, group, alike, common } = insertion
  let at = 0
  for (; at + GROUP <= rows.length; at += GROUP) {
    const some = rows.slice(at, at + GROUP)
    const first = some[0]?.slice(0, common) ?? []
    const areAlike = some.every((row) => first.every((value, place) => row[place] === value))
    const values = areAlike ? first : []
    const from = values.length
    for (const row of some)
      for (let place = from; place < row.length; place++) values.push(row[place] ?? null)
    file.statement(areAlike ? alike : group).run(values)
  }
  for (const row of rows.slice(at)) file.statement(one).run(row)
}

function insertion(table: string, columns: readonly string[], common: number, after: string): Insertion {
  const statement = (count: number, shared: number): string => {
    const own = columns.length - shared
    const rowOf = (row: number): string =>
      `(${columns.map((name, place) => valueOf(name, place < shared ? place : place + row * own)).join()})`
    const rows = Array.from({ length: count }, (_, row) => rowOf(row))
    return `INSERT INTO ${table} (${columns.join()}) VALUES ${rows.join()} ${after}`
  }
  return { one: statement(1, 0), group: statement(GROUP, 0), alike: statement(GROUP, common), common }
}

/** A parameter; for a trace, that is the id it goes by outside. */
function valueOf(column: string, place: number): string {
  const parameter = `?${place + 1}`
  return column === 'trace' ? `(SELECT id FROM traces WHERE trace_id = ${parameter})` : parameter
}

/** A trace begins when its first span does. */
const TRACES = insertion(
  'traces',
  ['trace_id', 'start_time'],
  0,
  'ON CONFLICT (trace_id) DO UPDATE SET start_time = min(start_time, excluded.start_time)',
)

/** First what most spans that come together have in common, then what each has of its own. */
const OF_KIND = ['trace_type', 'span_type', 'span_name', 'status_code', 'reference_text']
const OWN = ['trace', 'span_id', 'parent_id', 'session_id', 'start_time', 'record']
const COLUMNS = [...OF_KIND, ...OWN]

const SPANS = insertion(
  'spans',
  COLUMNS,
  OF_KIND.length,
  `ON CONFLICT (trace, span_id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join()}`,
)

function valuesOf(span: StoredSpan, texts: ReadonlyMap<ReferenceTexts, number>): SqlValue[] {
  const { traceId, spanId, parentId, traceType, type, name, statusCode, sessionId, startTime, record } = span
  const text = (span.shared && texts.get(span.shared)) ?? null
  return [traceType, type, name, statusCode, text, traceId, spanId, parentId, sessionId, startTime, record]
}
