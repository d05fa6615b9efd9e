import { nodeFs } from '../../storage/node-fs.ts'
import { DatabaseTrouble } from '../../storage/sqlite/database-thread.ts'
import type { TracePage, TraceQuestion } from '../query/trace-page.ts'
import type { TraceReader } from '../query/trace-reader.ts'
import type { SpanRow, StoredSpan } from '../recording/span-record.ts'
import type { SpanStore } from '../span-store.ts'
import type { TraceRetention, TraceTrouble } from '../trace-settings.ts'
import type { TraceThread } from './start-trace-thread.ts'
import type { ThreadWork } from './thread-work.ts'

/** Where the work on traces is done: what is quick and in order, and questions, which may take their time. */
export interface TraceThreads {
  readonly writer: TraceThread
  readonly reader: TraceReader
}

/** What of the settings of traces concerns files. */
export interface FileSettings {
  readonly onTrouble: (trouble: TraceTrouble) => void
  readonly assertThere?: (() => void) | undefined
}

/** The spans of a project in an SQLite file, which is made when there is something to store. A damaged one is set aside. */
export class FileSpans implements SpanStore {
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
