import {
  DatabaseFiles,
  serveFiles,
  setAsideDamaged,
  isDamage,
  type ThreadRequest,
  ownSignal,
  type SqlValue,
} from '../../../storage/sqlite.ts'
import {
  bringSomeOver,
  headsOfTrace,
  namingTrace,
  READABLE_NAME,
  removeTrace,
  sourcesOf,
  spansOfTrace,
  writeSpans,
} from './stored-spans.ts'
import type { ThreadWork } from './thread-work.ts'
import { BUSY_MS, TraceFile } from './trace-file.ts'
import type { TraceRetention } from '../project-traces.ts'
import { type TraceFilter, readTraceFilter } from '../filter/trace-filter.ts'
import { type SpanHint, sqlOfHint } from '../filter/span-hint.ts'
import {
  ChunkLimit,
  MOST_RECORD_LEVELS,
  noSuchPlace,
  PageBuilder,
  readQuestion,
  sampleBound,
  type TracePage,
  type TraceQuestion,
  type TraceWindow,
} from '../query/trace-page.ts'
import { exactSpan, type SpanRow } from '../span-record.ts'
import { readTime } from '../span-time.ts'
import { isJsonObject, type JsonObject, JsonTextError, parseJson } from '../../../base/json.ts'

/** Tests which of these records match a filtering, one after the other. Run it in a thread, because a match may never end. */
function matchRecords(filtering: string, records: readonly string[]): boolean[] {
  const filter = readTraceFilter(parseJson(filtering, { maxDepth: MOST_RECORD_LEVELS }), [])
  return records.map((record) => {
    if (ownSignal.isEnding) throw new Error('the thread is to end')
    return ownSignal.match(() => filter.matches(readRecord(record)))
  })
}

/**
 * Parses a record for its filter. A record with a text that was cut within a character is not exact JSON, and is parsed without checking
 * that.
 */
function readRecord(text: string): JsonObject {
  try {
    const value = parseJson(text, { maxDepth: MOST_RECORD_LEVELS })
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return JSON.parse(text) as JsonObject
  }
}

/** Answers a query: walks traces or spans in order, lets SQL skip what it can, and parses the records of the rest. */
function queryTraces(file: TraceFile, question: TraceQuestion): TracePage {
  const { filter, window } = readQuestion(question)
  const traceWalk = filter ? FILTERED_TRACE_WALK : TRACE_WALK
  const walk = question.focus === 'trace' ? traceWalk : SPAN_WALK
  const read = question.headsOnly ? headsOfTrace : spansOfTrace
  const page = new PageBuilder(window.limit)
  for (const row of rowsOf(file, walk, filter, window)) {
    if (question.focus === 'trace' && row.trace_id === page.lastTrace) continue
    if (ownSignal.isEnding) throw new Error('the thread is to end')
    if (filter && !ownSignal.match(() => filter.matches(readRecord(row.record)))) continue
    if (page.isFull) return { spans: page.spans, next: page.next }
    if (question.focus === 'trace') page.addTrace(row.trace_id, read(file, row.trace_id))
    else page.addSpan(row)
  }
  return { spans: page.spans, next: undefined }
}

interface WalkedRow extends SpanRow {
  readonly start: string
}

/** A walk over candidates: its source, and the columns that order it. */
interface Walk {
  readonly from: 'traces' | 'spans' | 'spansByTrace'
  readonly columns: string
  /** The columns after the time, in order. */
  readonly ids: readonly ('trace_id' | 'span_id')[]
}

/** Traces by their beginning. */
const TRACE_WALK: Walk = {
  from: 'traces',
  columns: "s.trace_id, s.start, '' AS span_id, NULL AS parent_id, '' AS span_name, '' AS record",
  ids: ['trace_id'],
}

const COLUMNS = `s.trace_id, s.start, s.span_id, s.parent_id, ${READABLE_NAME}, s.record`

/** The same with each trace's spans, for a filter. */
const FILTERED_TRACE_WALK: Walk = { from: 'spansByTrace', columns: COLUMNS, ids: ['trace_id', 'span_id'] }

const SPAN_WALK: Walk = { from: 'spans', columns: COLUMNS, ids: ['span_id'] }

/** A row's position in a walk, maybe partial in a cursor: its time in microseconds, and its ids. */
type Place = readonly [start: number, ...ids: string[]]

/** Fetches rows in batches, so that no statement stays open between them. */
function* rowsOf(
  file: TraceFile,
  walk: Walk,
  filter: TraceFilter | undefined,
  window: TraceWindow,
): Iterable<WalkedRow> {
  let place = window.next === undefined ? undefined : cursorOf(file, walk, window, window.next)
  const limit = new ChunkLimit()
  for (;;) {
    const rows = chunkOf(file, walk, filter, window, place, limit.rows)
    yield* rows
    const last = rows.at(-1)
    if (rows.length < limit.rows || !last) return
    place = placeOf(last, walk)
    limit.learn(rows)
  }
}

/** The next rows after a position, from all sources in one order. */
function chunkOf(
  file: TraceFile,
  walk: Walk,
  filter: TraceFilter | undefined,
  window: TraceWindow,
  place: Place | undefined,
  limit: number,
): WalkedRow[] {
  const isAscending = window.order === 'ascending'
  const direction = isAscending ? 'ASC' : 'DESC'
  const by = (time: string): string => [time, ...walk.ids].map((name) => `${name} ${direction}`).join()
  return file.snapshot(() => {
    const parts = sourcesOf(file).map((source) => {
      const conditions = [
        ...(filter?.hint ? [conditionOf(filter.hint)] : []),
        ...rangeOf(source.began, window),
        ...(place ? [behind(walk, source.began, place, isAscending)] : []),
      ]
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`
      return {
        sql: `SELECT * FROM (SELECT ${walk.columns} FROM ${source[walk.from]} s ${where} ORDER BY ${by('s.began')} LIMIT ?)`,
        values: [...conditions.flatMap(({ values }) => values), limit],
      }
    })
    const sql = parts.map((part) => part.sql).join(' UNION ALL ')
    const values = parts.flatMap((part) => part.values)
    return file.rows<WalkedRow>(`${sql} ORDER BY ${by('start')} LIMIT ?`, ...values, limit).map(exactSpan)
  })
}

function placeOf(row: WalkedRow, { ids }: Pick<Walk, 'ids'>): Place {
  return [readTime(row.start) ?? 0, ...ids.map((name) => row[name])]
}

function cursorOf(file: TraceFile, walk: Walk, window: TraceWindow, next: string): Place {
  const [row] = rowsNamed(file, walk, window, next)
  if (row) return placeOf(row, walk.from === 'spans' ? walk : TRACE_WALK)
  throw noSuchPlace(next)
}

/** The row that a cursor names: a trace by its id, a span by both ids, or by its own id and the window's start time. */
function rowsNamed(file: TraceFile, walk: Walk, window: TraceWindow, next: string): WalkedRow[] {
  const { order, newest, oldest } = window
  const time = order === 'ascending' ? oldest : newest
  const [id = '', spanId] = next.split('.')
  return file.snapshot(() =>
    sourcesOf(file).flatMap((source) => {
      if (walk.from !== 'spans')
        return file.rows<WalkedRow>(`SELECT * FROM ${source.traces} WHERE trace_id = ?`, id)
      const find = `SELECT trace_id, span_id, start FROM ${source.spans} WHERE`
      if (spanId !== undefined)
        return file.rows<WalkedRow>(`${find} trace_id = ? AND span_id = ?`, id, spanId)
      return time === undefined
        ? []
        : file.rows<WalkedRow>(`${find} began = ? AND span_id = ?`, source.began(time), id)
    }),
  )
}

type TimeOf = (time: number) => SqlValue

function rangeOf(began: TimeOf, { oldest, newest, next, rate }: TraceWindow): SourceCondition[] {
  const bound = sampleBound(rate)
  return [
    ...(oldest === undefined ? [] : [{ sql: 's.began >= ?', values: [began(oldest)] }]),
    ...(newest === undefined
      ? []
      : [{ sql: `s.began ${next === undefined ? '<' : '<='} ?`, values: [began(newest)] }]),
    ...(bound === undefined ? [] : [{ sql: 'substr(s.trace_id, -8) < ?', values: [bound] }]),
  ]
}

function conditionOf(hint: SpanHint): SourceCondition {
  const values: string[] = []
  const bind = (value: string): string => {
    values.push(value)
    return '?'
  }
  return { sql: sqlOfHint(hint, { bind, has: (text, part) => `instr(${text}, ${part}) > 0` }), values }
}

function behind(
  { ids }: Walk,
  began: TimeOf,
  [start, ...known]: Place,
  isAscending: boolean,
): SourceCondition {
  const columns = ['began', ...ids.slice(0, known.length)].map((name) => `s.${name}`).join()
  return {
    sql: `(${columns}) ${isAscending ? '>' : '<'} (?${', ?'.repeat(known.length)})`,
    values: [began(start), ...known],
  }
}

interface SourceCondition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * Removes some of the oldest traces while they are too old or all are too large, moves some of an older version, and returns some space to
 * the disk: a few milliseconds of work. Answers whether more remains. `now` is in milliseconds.
 */
function retainTraces(file: TraceFile, { maxAgeDays, maxBytes }: TraceRetention, now: number): boolean {
  const oldest = (now - maxAgeDays * DAY) * 1000
  const removed = file.transaction(() => {
    let count = removeOldest(file, oldest)
    while (count < STEP && usedBytes(file) > maxBytes) {
      const some = removeOldest(file, Number.MAX_SAFE_INTEGER)
      if (some === 0) break
      count += some
    }
    return count
  })
  bringSomeOver(file)
  const free = pragma(file, 'freelist_count')
  file.rows(`PRAGMA incremental_vacuum(${PAGES})`)
  const left = pragma(file, 'freelist_count')
  return file.hasOlder || removed >= FEW || (left > 0 && left < free)
}

const DAY = 24 * 60 * 60 * 1000
/** The number of traces removed at a time, small so that not too many are removed; and the approximate number in one step. */
const FEW = 20
const STEP = 200
/** Pages returned to the disk in one step. */
const PAGES = 500

/** Removes a few traces that began before a time, oldest first; answers their number. Those of an older version are the oldest. */
function removeOldest(file: TraceFile, before: number): number {
  for (const { traces, began } of sourcesOf(file).toReversed()) {
    const oldest = `SELECT trace_id FROM ${traces} WHERE began < ? ORDER BY began, trace_id LIMIT ?`
    const rows = file.rows<{ readonly trace_id: string }>(oldest, began(before), FEW)
    for (const { trace_id: id } of rows) removeTrace(file, id)
    if (rows.length > 0) return rows.length
  }
  return 0
}

function usedBytes(file: TraceFile): number {
  return (pragma(file, 'page_count') - pragma(file, 'freelist_count')) * pragma(file, 'page_size')
}

function pragma(file: TraceFile, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return file.rows<Record<string, number>>(`PRAGMA ${name}`)[0]?.[name] ?? 0
}

/** The program of a thread that works on files of traces. */
const files = new DatabaseFiles((path) => TraceFile.open(path), BUSY_MS)

serveFiles<ThreadWork>(files, done)

function done(request: ThreadRequest<ThreadWork>): unknown {
  const { work, file: path, asks } = request
  if (work === 'write') return written(request)
  if (work === 'match') return matchRecords(asks.filtering, asks.records)
  if (work === 'examine') return setAsideDamaged(files, path, 'a question found it unreadable')
  const file = files.readable(path)
  switch (work) {
    case 'read':
      return file ? asks.traceIds.flatMap((traceId) => spansOfTrace(file, traceId)) : []
    case 'query':
      return file ? queryTraces(file, asks.question) : { spans: [], next: undefined }
    case 'naming':
      return file && namingTrace(file, asks.digits)
    case 'remove':
      return file ? file.transaction(() => removeTrace(file, asks.traceId)) : false
    case 'retain':
      return file ? retainTraces(file, asks.retention, asks.now) : false
  }
}

/** Writes spans; if the file is damaged, into a new one. */
function written({
  file: path,
  asks,
}: ThreadRequest<ThreadWork> & { readonly work: 'write' }): string | undefined {
  try {
    writeSpans(files.writable(path), asks.spans)
    return undefined
  } catch (error) {
    if (!isDamage(error)) throw error
    const told = setAsideDamaged(files, path, (error as Error).message)
    writeSpans(files.writable(path), asks.spans)
    return told
  }
}
