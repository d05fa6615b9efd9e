import { basename } from 'node:path'
import type { Registry } from '../versioning/registry.ts'
import { ProjectTraces } from './project-traces.ts'
import { TraceReader } from './query/trace-reader.ts'
import { nodeFs } from '../storage/node-fs.ts'
import { bringOver } from './shared/bring-over.ts'
import { SharedSpans } from './shared/shared-spans.ts'
import type { SpanTable } from './shared/span-table.ts'
import type { SpanStore } from './span-store.ts'
import { FileSpans, type TraceThreads } from './storage/file-spans.ts'
import type { TraceSettings } from './trace-settings.ts'
import { traceThread } from './storage/start-trace-thread.ts'

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
    this.#rounds ??= setInterval(() => this.#retain(), ROUND_MS).unref()
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

/** So often it is looked whether traces are too old or too many. */
const ROUND_MS = 10_000
