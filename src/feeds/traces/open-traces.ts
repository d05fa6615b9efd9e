import { basename } from 'node:path'
import { ProjectAnnotations } from './annotations.ts'
import { limitedTraces } from './limited-traces.ts'
import type { Registry } from '../../registry/registries.ts'
import {
  ProjectTraces,
  type SpanStore,
  type TraceRetention,
  type TraceSettings,
  type TraceTrouble,
} from './project-traces.ts'
import { TraceReader } from './query/trace-reader.ts'
import { nodeFs } from '../../storage/files.ts'
import { type ThreadWork, traceThread, type TraceThread } from './storage/thread-work.ts'
import { isoOf, type SpanRow, type StoredSpan } from './span-record.ts'
import { readTime } from './span-time.ts'
import { DatabaseTrouble } from '../../storage/sqlite.ts'
import {
  MOST_ROWS,
  noSuchPlace,
  PageBuilder,
  readQuestion,
  sampleBound,
  type TracePage,
  type TraceQuestion,
  type TraceWindow,
} from './query/trace-page.ts'

/** The parts of a registry that identify its traces. */
export interface TracedProject {
  readonly store: Pick<Registry['store'], 'folder' | 'fs'>
}

/** The traces of all projects in a database that servers share. */
export interface SharedTraces {
  /** The spans of a project. */
  spansOf(project: string, reader: TraceReader): SpanStore
  /**
   * Imports a server's file of an earlier version into the database, then renames the file; stops early if `isEnding` answers true. Rejects
   * if the file or the database cannot be used.
   */
  bringOver(file: string, isEnding: () => boolean): Promise<void>
  close(): Promise<void>
}

/** A problem with the traces of a project. */
export interface TraceProblem {
  readonly project: string
  /** Why they cannot be stored now. */
  readonly reason?: string
  /** Spans that were lost since the start. */
  readonly dropped?: number
}

/**
 * The traces of all projects of a process: each project's in `traces.db` in its folder, or all in a database that servers share. Opening it
 * is free: files, threads and connections are opened for the first trace or query.
 */
export class OpenTraces {
  readonly #settings: TraceSettings
  readonly #threads: TraceThreads
  readonly #shared: SharedTraces | undefined
  readonly #projects = new Map<string, ProjectTraces>()
  /** By project's folder: what was said of its traces. */
  readonly #indexes = new Map<string, ProjectTraces>()
  readonly #bringing: Promise<void>[] = []
  #rounds: NodeJS.Timeout | undefined
  #isClosed = false

  /** Closes the shared part with the rest. */
  constructor(settings: TraceSettings, shared?: SharedTraces) {
    this.#settings = settings
    this.#shared = shared
    this.#threads = { writer: traceThread(), reader: new TraceReader(settings.queryMs) }
  }

  /** The traces of a project; those of a store in memory are there, too. */
  of({ store: { folder, fs } }: TracedProject): ProjectTraces {
    const known = this.#projects.get(folder)
    if (known) return known
    const traces = new ProjectTraces(this.#storeOf(folder, fs.isSeenByOthers, 'traces'), this.#settings)
    this.#projects.set(folder, traces)
    this.#rounds ??= setInterval(() => this.#retain(), RETENTION_CHECK_MS).unref()
    return traces
  }

  /** The annotations of a project's traces; for a key that is limited to folders, those that it sees. */
  annotationsOf({ store, limit }: TracedProject & Pick<Registry, 'limit'>): ProjectAnnotations {
    const traces = this.of({ store })
    const { folder, fs } = store
    const index =
      this.#indexes.get(folder) ??
      new ProjectTraces(this.#storeOf(folder, fs.isSeenByOthers, 'annotations'), this.#settings)
    this.#indexes.set(folder, index)
    const seen = limit && { traces: limitedTraces(traces, limit), seesId: limit.seesId }
    return new ProjectAnnotations(traces, index, this.#settings.now, seen)
  }

  #storeOf(folder: string, isOnDisk: boolean, name: 'traces' | 'annotations'): SpanStore {
    if (!isOnDisk && !this.#shared) return new MemorySpans(this.#threads.reader)
    const file = `${folder}/${name}.db`
    if (!this.#shared) return new FileSpans(file, this.#threads, this.#settings)
    const isOfTraces = name === 'traces'
    if (isOfTraces && isOnDisk && nodeFs.stat(file)) this.#bringOver(file, this.#shared)
    // No project has a slash in its name.
    const project = basename(folder)
    return this.#shared.spansOf(isOfTraces ? project : `${project}/${name}`, this.#threads.reader)
  }

  #bringOver(file: string, shared: SharedTraces): void {
    const brought = shared
      .bringOver(file, () => this.#isClosed)
      .catch((error: Error) =>
        this.#settings.onTrouble({
          file,
          message: `its traces are not in the database yet, and the next start tries again: ${error.message}`,
        }),
      )
    this.#bringing.push(brought)
  }

  /** For /ready: the projects whose traces cannot be stored, or were lost. */
  problems(): readonly TraceProblem[] {
    return [...this.#projects].flatMap(
      ([
        folder,
        {
          state: { failure, dropped },
        },
      ]) =>
        failure === undefined && dropped === 0
          ? []
          : [
              {
                project: basename(folder),
                ...(failure === undefined ? {} : { reason: failure }),
                ...(dropped === 0 ? {} : { dropped }),
              },
            ],
    )
  }

  /** The number of spans of all projects that are not stored yet, and of lost ones. */
  get load(): { readonly waiting: number; readonly dropped: number } {
    const states = [...this.#projects.values()].map(({ state }) => state)
    return {
      waiting: states.reduce((sum, { waiting }) => sum + waiting, 0),
      dropped: states.reduce((sum, { dropped }) => sum + dropped, 0),
    }
  }

  /** Resolves once everything is stored, as far as possible. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#rounds)
    await Promise.all(this.#bringing)
    await Promise.all([...this.#all()].map((traces) => traces.close()))
    await this.#threads.reader.close()
    await this.#threads.writer.stop(new Error('the traces are closed'))
    await this.#shared?.close()
  }

  *#all(): Generator<ProjectTraces> {
    yield* this.#projects.values()
    yield* this.#indexes.values()
  }

  #retain(): void {
    for (const traces of this.#all()) {
      traces
        .retain()
        .catch((error: Error) =>
          this.#settings.onTrouble({ file: traces.name, message: `old traces stay: ${error.message}` }),
        )
    }
  }
}

const RETENTION_CHECK_MS = 10_000

/** The threads for work on traces: one for quick work in order, one for slow queries. */
interface TraceThreads {
  readonly writer: TraceThread
  readonly reader: TraceReader
}

/** The settings that concern files. */
interface FileSettings {
  readonly onTrouble: (trouble: TraceTrouble) => void
  readonly assertThere?: (() => void) | undefined
}

/** The spans of a project in an SQLite file, created for the first span. A damaged file is set aside. */
class FileSpans implements SpanStore {
  readonly name: string
  readonly #threads: TraceThreads
  readonly #settings: FileSettings

  constructor(file: string, threads: TraceThreads, settings: FileSettings) {
    this.name = file
    this.#threads = threads
    this.#settings = settings
  }

  write(spans: readonly StoredSpan[]): Promise<string | undefined> {
    return this.#call('write', { spans })
  }

  read(traceIds: readonly string[]): Promise<readonly SpanRow[]> {
    return this.#afterDamage(() => this.#call('read', { traceIds }))
  }

  query(question: TraceQuestion): Promise<TracePage> {
    return this.#asked('query', { question })
  }

  naming(digits: string): Promise<string | undefined> {
    return this.#asked('naming', { digits })
  }

  remove(traceId: string): Promise<boolean> {
    return this.#afterDamage(() => this.#call('remove', { traceId }))
  }

  async retain(retention: TraceRetention, now: number): Promise<boolean> {
    if (!nodeFs.stat(this.name)) return false
    return this.#call('retain', { retention, now })
  }

  async #call<N extends keyof ThreadWork>(
    work: N,
    asks: ThreadWork[N]['asks'],
  ): Promise<ThreadWork[N]['answers']> {
    this.#assertThere()
    return this.#threads.writer.call(work, this.name, asks)
  }

  #asked<N extends 'query' | 'naming'>(
    work: N,
    asks: ThreadWork[N]['asks'],
  ): Promise<ThreadWork[N]['answers']> {
    return this.#afterDamage(async () => {
      this.#assertThere()
      return this.#threads.reader.answer((thread) => thread.call(work, this.name, asks))
    })
  }

  /** The answer; if the file is found damaged, the answer of the file that replaces it. */
  async #afterDamage<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DatabaseTrouble && error.isDamage)) throw error
      const told = await this.#call('examine', {})
      if (told !== undefined) this.#settings.onTrouble({ file: this.name, message: `${told}.` })
      return ask()
    }
  }

  #assertThere(): void {
    try {
      this.#settings.assertThere?.()
    } catch (error) {
      throw new DatabaseTrouble(error instanceof Error ? error.message : String(error), false)
    }
  }
}

/** A trace in memory: the time of its first span, and its spans by their ids. */
interface HeldTrace {
  readonly id: string
  start: string
  readonly spans: Map<string, StoredSpan>
}

/** A row of a walk over traces or spans: what orders it, and the spans of which a filter has to match one. */
interface WalkedRow {
  readonly start: string
  readonly id: string
  readonly trace: HeldTrace
  readonly tested: readonly StoredSpan[]
}

/** The spans of a project whose store is in memory. Filters run in a thread, as those over files do, because they may never end. */
class MemorySpans implements SpanStore {
  readonly name = 'the traces in memory'
  readonly #reader: TraceReader
  readonly #traces = new Map<string, HeldTrace>()

  constructor(reader: TraceReader) {
    this.#reader = reader
  }

  async write(spans: readonly StoredSpan[]): Promise<undefined> {
    for (const span of spans) {
      const { trace_id: id, start_time: start } = span
      const trace = this.#traces.get(id) ?? { id, start, spans: new Map<string, StoredSpan>() }
      if (start < trace.start) trace.start = start
      trace.spans.set(span.span_id, span)
      this.#traces.set(id, trace)
    }
  }

  async read(traceIds: readonly string[]): Promise<readonly SpanRow[]> {
    return traceIds.flatMap((id) => spansOf(this.#traces.get(id)))
  }

  query(question: TraceQuestion): Promise<TracePage> {
    const { focus, filtering, headsOnly } = question
    const { window } = readQuestion(question)
    const rows = this.#walk(focus, window)
    const page = new PageBuilder(window.limit)
    return this.#reader.answer(async (thread) => {
      for (let at = 0; at < rows.length; at += MOST_ROWS) {
        const some = rows.slice(at, at + MOST_ROWS)
        const records = some.flatMap(({ tested }) => tested.map(({ record }) => record))
        const matches =
          filtering === undefined ? undefined : await thread.call('match', '', { filtering, records })
        let end = 0
        for (const { trace, tested } of some) {
          end += tested.length
          if (matches?.slice(end - tested.length, end).includes(true) === false) continue
          if (page.isFull) return { spans: page.spans, next: page.next }
          if (focus === 'trace') page.addTrace(trace.id, headsOnly ? headsOf(trace) : tested)
          else for (const span of tested) page.addSpan(span)
        }
      }
      return { spans: page.spans, next: undefined }
    })
  }

  /** The rows of a window in its order, after its cursor. */
  #walk(
    focus: TraceQuestion['focus'],
    { order, oldest = 0, newest, next, rate }: TraceWindow,
  ): readonly WalkedRow[] {
    const rows = [...this.#traces.values()].flatMap((trace): WalkedRow[] => {
      const spans = spansOf(trace)
      if (focus === 'trace') return [{ start: trace.start, id: trace.id, trace, tested: spans }]
      return spans.map((span) => ({ start: span.start_time, id: span.span_id, trace, tested: [span] }))
    })
    rows.sort((a, b) => compare(a.start, b.start) || compare(a.id, b.id))
    if (order !== 'ascending') rows.reverse()
    const from = rows.findIndex(({ id, trace }) => next === id || next === `${trace.id}.${id}`) + 1
    if (next !== undefined && from === 0) throw noSuchPlace(next)
    const last = newest ?? Infinity
    const bound = sampleBound(rate) ?? 'g'
    return rows.slice(from).filter(({ start, trace }) => {
      const time = readTime(start) ?? 0
      const isInTime = time >= oldest && (next === undefined ? time < last : time <= last)
      return isInTime && trace.id.slice(-8) < bound
    })
  }

  async naming(digits: string): Promise<string | undefined> {
    const isNamed = ({ record }: StoredSpan): boolean =>
      record.includes(`${digits}"`) &&
      JSON.stringify(JSON.parse(record).references ?? []).includes(`${digits}"`)
    return [...this.#traces.values()].find(({ spans }) => [...spans.values()].some(isNamed))?.id
  }

  async remove(traceId: string): Promise<boolean> {
    return this.#traces.delete(traceId)
  }

  async retain({ maxAgeDays, maxBytes }: TraceRetention, now: number): Promise<boolean> {
    const oldest = isoOf((now - maxAgeDays * DAY_MS) * 1000)
    const sizeOf = ({ spans }: HeldTrace): number =>
      [...spans.values()].reduce((sum, { record }) => sum + record.length, 0)
    let size = [...this.#traces.values()].reduce((sum, trace) => sum + sizeOf(trace), 0)
    for (const trace of [...this.#traces.values()].sort((a, b) => compare(a.start, b.start))) {
      if (trace.start >= oldest && size <= maxBytes) break
      size -= sizeOf(trace)
      this.#traces.delete(trace.id)
    }
    return false
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The spans of a trace by start time. */
function spansOf(trace: HeldTrace | undefined): StoredSpan[] {
  return [...(trace?.spans.values() ?? [])].sort((a, b) => compare(a.start_time, b.start_time))
}

/** Those whose parent is absent. */
function headsOf(trace: HeldTrace): readonly StoredSpan[] {
  return spansOf(trace).filter(
    ({ span_id: id, parent_id: parent }) => parent === null || parent === id || !trace.spans.has(parent),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
