import { groupBy } from '../../base/json.ts'
import { nodeFs } from '../../storage/files.ts'
import {
  type SharedTraces,
  type SpanStore,
  type TraceRetention,
  ChunkLimit,
  MOST_ROWS,
  noSuchPlace,
  PageBuilder,
  readQuestion,
  sampleBound,
  type ReadQuestion,
  type TracePage,
  type TraceQuestion,
  type TraceReader,
  type Work,
  isoOf,
  type SpanRow,
  type StoredSpan,
  traceThread,
} from '../../feeds/traces.ts'
import type { FoundSpan, SpanKey, SpanTable, WalkedSpan, WalkOf, WalkPlace, WalkStep } from './span-table.ts'
import { randomUUID } from 'node:crypto'
import { basename, dirname } from 'node:path'

/** Traces of servers that share a table of spans. */
export function sharedTraces(table: SpanTable): SharedTraces {
  return {
    spansOf: (project, reader) => new SharedSpans(project, table, reader),
    bringOver: (file, isEnding) => bringOver(file, table, isEnding),
    close: () => table.close(),
  }
}

/**
 * Imports the traces of a server's file, written by an earlier version, into the database, then renames the file. The progress is saved in
 * the same transaction as each part: an interrupted import continues from there, and does not restore traces that were deleted meanwhile.
 * Rejects if the file or the database cannot be used.
 */
async function bringOver(file: string, table: SpanTable, isEnding: () => boolean): Promise<void> {
  const project = basename(dirname(file))
  const name = `${file}.bringing-over`
  const id = await nameOf(name)
  const thread = traceThread()
  try {
    let last = await table.broughtUpTo(id)
    while (last !== ALL) {
      if (isEnding()) return
      // Whole traces, so that a trace that is deleted during the import is deleted as a whole.
      const window = { order: 'ascending', next: last, limit: TRACES_READ_AT_ONCE } as const
      const question = { focus: 'trace', filtering: undefined, window } as const
      const page = await thread.call('query', file, { question })
      last = page.next ?? ALL
      await table.write(project, page.spans.map(storedSpanOf), { file: id, last })
    }
  } finally {
    await thread.stop(new Error('the traces are brought over'))
  }
  // Removed before the file is renamed, because a later file at this path needs another id.
  nodeFs.remove(name)
  nodeFs.rename(file, `${file}.brought-over`)
  await table.forgetBrought(id)
}

const TRACES_READ_AT_ONCE = 50

/** Saved as the last trace when all are imported. */
const ALL = 'all'

/**
 * The file's id in the database, stored next to the file, because files of other servers may have the same path. An id damaged by a power cut
 * is replaced.
 */
async function nameOf(path: string): Promise<string> {
  const known = nodeFs.readFile(path)?.toString('latin1') ?? ''
  if (/^[0-9a-f-]{36}$/.test(known)) return known
  const id = randomUUID()
  nodeFs.remove(path)
  nodeFs.create(path, Buffer.from(id))
  await nodeFs.sync(path)
  await nodeFs.syncDir(dirname(path))
  return id
}

/** A row with the columns from its record. */
function storedSpanOf(row: SpanRow): StoredSpan {
  const { trace_type, span_type, span_kind, start_time, end_time, status_code, session_id } = JSON.parse(
    row.record,
  ) as Omit<StoredSpan, 'session_id'> & { readonly session_id?: string }
  return {
    ...row,
    ...{ trace_type, span_type, span_kind, start_time, end_time, status_code },
    session_id: session_id ?? null,
  }
}

/** The spans of a project in a shared database; each query finds what any server has stored. */
class SharedSpans implements SpanStore {
  readonly name: string
  readonly #project: string
  readonly #table: SpanTable
  readonly #reader: TraceReader

  constructor(project: string, table: SpanTable, reader: TraceReader) {
    this.name = `traces of ${project} in the database`
    this.#project = project
    this.#table = table
    this.#reader = reader
  }

  async write(spans: readonly StoredSpan[]): Promise<undefined> {
    await this.#table.write(this.#project, spans)
  }

  read(traceIds: readonly string[]): Promise<readonly SpanRow[]> {
    return this.#table.spansOf(this.#project, traceIds, false)
  }

  async query(question: TraceQuestion): Promise<TracePage> {
    await this.#table.reach() // the time limit of the query begins after this
    return this.#reader.answer((...at) => this.#page(question, ...at))
  }

  async naming(digits: string): Promise<string | undefined> {
    await this.#table.reach()
    return this.#reader.answer(async (_, signal) => {
      const began = performance.now()
      const text = `${digits}"`
      let last: SpanKey | undefined
      for (;;) {
        const found = await this.#table.spansWith(this.#project, text, last, this.#left(began))
        signal.throwIfAborted()
        const named = found.find((span) => namesInReferences(span, text))
        if (named) return named.traceId
        last = found.at(-1)
        if (!last) return undefined
      }
    })
  }

  remove(traceId: string): Promise<boolean> {
    return this.#table.remove(this.#project, traceId)
  }

  /** Whole days, in UTC, are removed, so a trace may stay up to a day too long. */
  async retain({ maxAgeDays, maxBytes }: TraceRetention, now: number): Promise<boolean> {
    const oldest = dayOf(isoOf((now - maxAgeDays * DAY_MS) * 1000))
    if (await this.#table.removeDays(oldest)) return true
    return this.#table.shrink(this.#project, maxBytes)
  }

  /**
   * Reads traces or spans in order. The database skips what the hint excludes, and the thread tests the rest. Spans of traces are read in
   * batches.
   */
  async #page(question: TraceQuestion, ...[thread, signal]: Parameters<Work<TracePage>>): Promise<TracePage> {
    const read = readQuestion(question)
    const page = new PageBuilder(read.window.limit)
    const traces = new ChunkLimit()
    for await (const rows of this.#chunks(question, read, signal)) {
      const others = rows.filter((row) => question.focus === 'span' || row.trace_id !== page.lastTrace)
      const matching = await matchingRows(question.filtering, others, thread)
      signal.throwIfAborted()
      if (question.focus === 'span') {
        for (const row of matching) {
          if (page.isFull) return page
          page.addSpan(row)
        }
      } else {
        const ids = [...new Set(matching.map((row) => row.trace_id))]
        while (ids.length > 0) {
          if (page.isFull) return page
          const some = ids.splice(0, traces.rows)
          const spans = await this.#table.spansOf(this.#project, some, question.headsOnly === true)
          signal.throwIfAborted()
          traces.learn(spans, some.length)
          const byTrace = groupBy(spans, (span) => span.trace_id)
          for (const id of some) {
            if (page.isFull) return page
            page.addTrace(id, byTrace.get(id) ?? [])
          }
        }
      }
    }
    return { spans: page.spans, next: undefined }
  }

  async *#chunks(
    { focus }: TraceQuestion,
    { filter, window }: ReadQuestion,
    signal: AbortSignal,
  ): AsyncGenerator<readonly WalkedSpan[]> {
    const began = performance.now()
    const of = focus === 'span' ? 'spans' : filter ? 'spansByTrace' : 'traces'
    const { order, oldest, newest, next } = window
    const isAscending = order === 'ascending'
    const limit = new ChunkLimit(of === 'traces' ? MOST_ROWS : undefined)
    const step: Omit<WalkStep, 'behind' | 'limit'> = {
      of,
      isAscending,
      hint: filter?.hint,
      from: oldest === undefined ? undefined : isoOf(oldest),
      to: newest === undefined ? undefined : { time: isoOf(newest), isIncluded: next !== undefined },
      sampleBound: sampleBound(window.rate),
    }
    let behind =
      next === undefined ? undefined : await this.#cursorOf(of, next, isAscending ? oldest : newest)
    for (;;) {
      signal.throwIfAborted()
      const chunk = { ...step, behind, limit: limit.rows }
      const rows = await this.#table.walk(this.#project, chunk, this.#left(began))
      yield rows
      const last = rows.at(-1)
      if (rows.length < limit.rows || !last) return
      behind = placeIn(of, last)
      limit.learn(rows)
    }
  }

  /** The time that the database has left for a query that began then: slightly more than the reader's limit, which gives a better error. */
  #left(began: number): number {
    return Math.max(0, Math.ceil(began + this.#reader.limitMs - performance.now())) + GRACE_MS
  }

  /** `time` is the start of the window, for a span named without its trace. */
  async #cursorOf(of: WalkOf, next: string, time: number | undefined): Promise<WalkPlace> {
    const [id = '', spanId] = next.split('.')
    const named =
      of !== 'spans'
        ? { traceId: id }
        : spanId !== undefined
          ? { traceId: id, spanId }
          : time === undefined
            ? undefined
            : { spanId: id, start: isoOf(time) }
    const place = named && (await this.#table.placeOf(this.#project, named))
    if (place === undefined) throw noSuchPlace(next)
    return place
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The UTC day of a time in the form of `isoOf`. */
function dayOf(time: string): string {
  return time.slice(0, '2026-03-01'.length)
}

const GRACE_MS = 500

function placeIn(of: WalkOf, { start, trace_id: traceId, span_id: spanId }: WalkedSpan): WalkPlace {
  if (of === 'traces') return [start, traceId]
  return of === 'spans' ? [start, spanId] : [start, traceId, spanId]
}

async function matchingRows(
  filtering: string | undefined,
  rows: readonly WalkedSpan[],
  thread: Parameters<Work<unknown>>[0],
): Promise<readonly WalkedSpan[]> {
  if (filtering === undefined || rows.length === 0) return rows
  const records = rows.map(({ record }) => record)
  const matches = await thread.call('match', '', { filtering, records })
  return rows.filter((_, at) => matches[at])
}

/** Whether a record's references contain a text. */
function namesInReferences({ record }: FoundSpan, text: string): boolean {
  const { references = [] } = JSON.parse(record) as { readonly references?: unknown }
  return JSON.stringify(references).includes(text)
}
