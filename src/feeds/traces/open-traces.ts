import { basename } from 'node:path'
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
import type { SpanRow, StoredSpan } from './span-record.ts'
import { DatabaseTrouble } from '../../storage/sqlite.ts'
import type { TracePage, TraceQuestion } from './query/trace-page.ts'

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
  readonly #bringing: Promise<void>[] = []
  #rounds: NodeJS.Timeout | undefined
  #isClosed = false

  /** Closes the shared part with the rest. */
  constructor(settings: TraceSettings, shared?: SharedTraces) {
    this.#settings = settings
    this.#shared = shared
    this.#threads = { writer: traceThread(), reader: new TraceReader(settings.queryMs) }
  }

  /** The traces of a project. For a store in memory, which SQLite cannot use, nothing is recorded or found. */
  of({ store: { folder, fs } }: TracedProject): ProjectTraces {
    const known = this.#projects.get(folder)
    if (known) return known
    const isRecording = this.#settings.isRecording && (fs.isSeenByOthers || this.#shared !== undefined)
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
    if (!this.#shared) return new FileSpans(file, this.#threads, this.#settings)
    if (isOnDisk && nodeFs.stat(file)) this.#bringOver(file, this.#shared)
    return this.#shared.spansOf(basename(folder), this.#threads.reader)
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
    await Promise.all([...this.#projects.values()].map((traces) => traces.close()))
    await this.#threads.reader.close()
    await this.#threads.writer.stop(new Error('the traces are closed'))
    await this.#shared?.close()
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
