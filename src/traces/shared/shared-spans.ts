import { groupBy } from '../../json/json-values.ts'
import {
  ChunkLimit,
  MOST_ROWS,
  noSuchPlace,
  PageBuilder,
  readQuestion,
  sampleBound,
  type ReadQuestion,
  type TracePage,
  type TraceQuestion,
} from '../query/trace-page.ts'
import type { TraceReader, Work } from '../query/trace-reader.ts'
import { isoOf, type SpanRow, type StoredSpan } from '../recording/span-record.ts'
import type { SpanStore, TraceRetention } from '../project-traces.ts'
import type { FoundSpan, SpanKey, SpanTable, WalkedSpan, WalkOf, WalkPlace, WalkStep } from './span-table.ts'

/** The spans of a project in a database that servers share: what one has stored, the next question at any other finds. */
export class SharedSpans implements SpanStore {
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
    await this.#table.reach() // what that takes is not the question's
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

  /** Days, in UTC, go as a whole: a trace stays up to a day longer than it must. */
  async retain({ maxAgeDays, maxBytes }: TraceRetention, now: number): Promise<boolean> {
    const oldest = dayOf(isoOf((now - maxAgeDays * DAY_MS) * 1000))
    if (await this.#table.removeDays(oldest)) return true
    return this.#table.shrink(this.#project, maxBytes)
  }

  /**
   * Walks the traces or spans in their order, has the database leave out what it can, and the thread match the rest. Traces are read some
   * at a time.
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

  /** How long the database may take yet for a question that began then: a little longer than who asked, who then says why. */
  #left(began: number): number {
    return Math.max(0, Math.ceil(began + this.#reader.limitMs - performance.now())) + GRACE_MS
  }

  /** `time` is that at which the window begins, for a span that is named without its trace. */
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

/** The day, in UTC, of a time as `isoOf` writes it. */
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

/** Whether a record has a text in its references. */
function namesInReferences({ record }: FoundSpan, text: string): boolean {
  const { references = [] } = JSON.parse(record) as { readonly references?: unknown }
  return JSON.stringify(references).includes(text)
}
