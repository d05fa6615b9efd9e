import { basename, dirname } from 'node:path'
import type { Registry } from '../versioning/registry.ts'
import {
  ProjectTraces,
  type SpanStore,
  type TraceRetention,
  type TraceSettings,
  type TraceTrouble,
} from './project-traces.ts'
import { TraceReader } from './query/trace-reader.ts'
import { nodeFs } from '../storage/node-fs.ts'
import { SharedSpans } from './shared/shared-spans.ts'
import type { SpanTable } from './shared/span-table.ts'
import { type ThreadWork, traceThread, type TraceThread } from './storage/thread-work.ts'
import { randomUUID } from 'node:crypto'
import type { SpanRow, StoredSpan } from './recording/span-record.ts'
import { DatabaseTrouble } from '../storage/sqlite/database-thread.ts'
import type { TracePage, TraceQuestion } from './query/trace-page.ts'

/** What of a registry says where its traces are. */
export interface TracedProject {
  readonly store: Pick<Registry['store'], 'folder' | 'fs'>
}

/** What is wrong with the traces of a project. */
export interface TraceProblem {
  readonly project: string
  /** Why they cannot be stored now. */
  readonly reason?: string
  /** Spans that were lost since the start. */
  readonly dropped?: number
}

/**
 * The traces of all projects that a process serves, each project's in `traces.db` in its folder, or all of them in a database that
 * servers share. Opening costs nothing: files, threads and connections come with the first trace or question.
 */
export class OpenTraces {
  readonly #settings: TraceSettings
  readonly #threads: TraceThreads
  readonly #table: SpanTable | undefined
  readonly #projects = new Map<string, ProjectTraces>()
  readonly #bringing: Promise<void>[] = []
  #rounds: NodeJS.Timeout | undefined
  #isClosed = false

  /** With a table, which is closed with the rest, that is where all spans lie. */
  constructor(settings: TraceSettings, table?: SpanTable) {
    this.#settings = settings
    this.#table = table
    this.#threads = { writer: traceThread(), reader: new TraceReader(settings.queryMs) }
  }

  /** The traces of a project. SQLite reaches no store in memory: nothing is recorded there, and nothing found. */
  of({ store: { folder, fs } }: TracedProject): ProjectTraces {
    const known = this.#projects.get(folder)
    if (known) return known
    const isRecording = this.#settings.isRecording && (fs.isSeenByOthers || this.#table !== undefined)
    const traces = new ProjectTraces(this.#storeOf(folder, fs.isSeenByOthers), {
      ...this.#settings,
      isRecording,
    })
    this.#projects.set(folder, traces)
    this.#rounds ??= setInterval(() => this.#retain(), RETENTION_CHECK_MS).unref()
    return traces
  }

  #storeOf(folder: string, isOnDisk: boolean): SpanStore {
    const file = isOnDisk ? `${folder}/traces.db` : NOWHERE
    if (!this.#table) return new FileSpans(file, this.#threads, this.#settings)
    if (isOnDisk && nodeFs.stat(file)) this.#bringOver(file, this.#table)
    return new SharedSpans(basename(folder), this.#table, this.#threads.reader)
  }

  #bringOver(file: string, table: SpanTable): void {
    const brought = bringOver(file, table, () => this.#isClosed).catch((error: Error) =>
      this.#settings.onTrouble({
        file,
        message: `its traces are not in the database yet, and the next start tries again: ${error.message}`,
      }),
    )
    this.#bringing.push(brought)
  }

  /** For /ready: whose traces cannot be stored, or were lost. */
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

  /** How many spans of all projects are not stored yet, and how many were lost. */
  get load(): { readonly waiting: number; readonly dropped: number } {
    const states = [...this.#projects.values()].map(({ state }) => state)
    return {
      waiting: states.reduce((sum, { waiting }) => sum + waiting, 0),
      dropped: states.reduce((sum, { dropped }) => sum + dropped, 0),
    }
  }

  /** Resolves once everything is stored that can be. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#rounds)
    await Promise.all(this.#bringing)
    await Promise.all([...this.#projects.values()].map((traces) => traces.close()))
    await this.#threads.reader.close()
    await this.#threads.writer.stop(new Error('the traces are closed'))
    await this.#table?.close()
  }

  #retain(): void {
    for (const traces of this.#projects.values()) {
      traces
        .retain()
        .catch((error: Error) =>
          this.#settings.onTrouble({ file: traces.name, message: `old traces stay: ${error.message}` }),
        )
    }
  }
}

const NOWHERE = ''

const RETENTION_CHECK_MS = 10_000

/**
 * Brings the traces over that a server has in a file from a time when they did not lie in a database, and gives the file another name then.
 * With each part is written, in the same transaction, how far it goes: stopped before the end, by whatever, it goes on there the next time, and
 * does not bring back what was removed from the database meanwhile. Rejects where either cannot be used.
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
      // Each with all of its spans: one that is removed in the middle of this is removed as a whole.
      const window = { order: 'ascending', next: last, limit: TRACES_READ_AT_ONCE } as const
      const question = { focus: 'trace', filtering: undefined, window } as const
      const page = await thread.call('query', file, { question })
      last = page.next ?? ALL
      await table.write(project, page.spans.map(storedSpanOf), { file: id, last })
    }
  } finally {
    await thread.stop(new Error('the traces are brought over'))
  }
  // Before the file goes: what a later file of that place is called is not what this one was.
  nodeFs.remove(name)
  nodeFs.rename(file, `${file}.brought-over`)
  await table.forgetBrought(id)
}

const TRACES_READ_AT_ONCE = 50

/** What is noted in the place of the last trace when there are no more. */
const ALL = 'all'

/** What the database knows a file by, which stands beside it: another server has a file of the same path. One that a power cut tore is made anew. */
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

/** A row with the columns that its record tells of. */
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

/** Where the work on traces is done: what is quick and in order, and questions, which may take their time. */
interface TraceThreads {
  readonly writer: TraceThread
  readonly reader: TraceReader
}

/** What of the settings of traces concerns files. */
interface FileSettings {
  readonly onTrouble: (trouble: TraceTrouble) => void
  readonly assertThere?: (() => void) | undefined
}

/** The spans of a project in an SQLite file, which is made when there is something to store. A damaged one is set aside. */
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

  /** An answer; where the file is found damaged, that of the one in its place. */
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
