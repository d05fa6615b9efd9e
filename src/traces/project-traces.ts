import { Refusal } from '../errors.ts'
import { nodeFs } from '../storage/node-fs.ts'
import type { Span } from './span.ts'
import { SpanQueue, type QueueState } from './recording/span-queue.ts'
import type { SpanRow } from './storage/stored-spans.ts'
import type { TracePage, TraceQuestion } from './storage/query-traces.ts'
import type { TraceReader } from './query/trace-reader.ts'
import type { TraceSettings } from './trace-settings.ts'
import { DatabaseTrouble } from '../storage/sqlite/database-thread.ts'
import type { TraceThread } from './storage/start-trace-thread.ts'

/** Where the work on traces is done: what is quick and in order, and questions, which may take their time. */
export interface TraceThreads {
  readonly writer: TraceThread
  readonly reader: TraceReader
}

/**
 * The traces of one project. Whoever records waits for nothing; whoever asks finds everything that this process recorded before.
 * Questions refuse with `storage_unavailable` when the file cannot be read.
 */
export class ProjectTraces {
  readonly #file: string
  readonly #writer: Pick<TraceThread, 'call'>
  readonly #reader: TraceReader
  readonly #assertThere: () => void
  readonly #settings: TraceSettings
  readonly #queue: SpanQueue
  #isRetaining = false
  #isClosed = false

  constructor(file: string, { writer, reader }: TraceThreads, settings: TraceSettings) {
    this.#file = file
    this.#assertThere = asStorageError(settings.assertThere ?? (() => undefined))
    this.#writer = {
      call: async (...asked) => {
        this.#assertThere()
        return writer.call(...asked)
      },
    }
    this.#reader = reader
    this.#settings = settings
    this.#queue = new SpanQueue(file, this.#writer, settings.onTrouble)
  }

  get file(): string {
    return this.#file
  }

  get state(): QueueState {
    return this.#queue.state
  }

  /** Records the spans of a trace. Never throws and never waits: a trace is worth less than the run it is of. */
  record(spans: readonly Span[]): void {
    if (!this.#settings.isRecording) return
    const now = this.#settings.now().getTime()
    try {
      this.#queue.add(spans, now)
    } catch (error) {
      this.#queue.drop(spans.length, `spans cannot be written as JSON (${(error as Error).message})`)
    }
  }

  /** Resolves once what was recorded before is stored, or could not be. */
  async stored(): Promise<void> {
    await this.#queue.settled()
  }

  /** The spans of these traces, those of each together in the order in which they began. */
  async read(traceIds: readonly string[]): Promise<readonly SpanRow[]> {
    return this.#asked(() => this.#writer.call('read', this.#file, { traceIds }))
  }

  /** The page of traces or spans that a question asks for. */
  async query(question: TraceQuestion): Promise<TracePage> {
    return this.#asked(async () => {
      this.#assertThere()
      return this.#reader.query(this.#file, question)
    })
  }

  /** The id of some trace that names something whose id ends in these digits; undefined if none does. */
  async naming(digits: string): Promise<string | undefined> {
    return this.#asked(async () => {
      this.#assertThere()
      return this.#reader.naming(this.#file, digits)
    })
  }

  /** Removes a trace; answers whether there was one. */
  async remove(traceId: string): Promise<boolean> {
    return this.#asked(() => this.#writer.call('remove', this.#file, { traceId }))
  }

  /** Removes what is too old or too much, in small steps with pauses for others between them. */
  async retain(): Promise<void> {
    if (this.#isRetaining || !nodeFs.stat(this.#file)) return
    this.#isRetaining = true
    try {
      const { retention, now } = this.#settings
      const step = (): Promise<boolean> =>
        this.#writer.call('retain', this.#file, { retention, now: now().getTime() })
      while (!this.#isClosed && (await step()))
        await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS))
    } catch (error) {
      // What keeps it from writing is told of by the queue; the next round tries again.
      if (!(error instanceof DatabaseTrouble)) throw error
    } finally {
      this.#isRetaining = false
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#queue.close()
  }

  /** An answer after what was recorded; where the file is found damaged, that of the one in its place. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    await this.#queue.settled()
    try {
      return await ask().catch((error: unknown) => this.#afterDamage(error, ask))
    } catch (error) {
      if (!(error instanceof DatabaseTrouble)) throw error
      throw new Refusal(
        'storage_unavailable',
        `The traces cannot be read now: ${error.message}. Ask again later.`,
      )
    }
  }

  async #afterDamage<T>(error: unknown, ask: () => Promise<T>): Promise<T> {
    if (!(error instanceof DatabaseTrouble && error.isDamage)) throw error
    const told = await this.#writer.call('examine', this.#file, {})
    if (told !== undefined) this.#settings.onTrouble({ file: this.#file, message: `${told}.` })
    return ask()
  }
}

function asStorageError(assertThere: () => void): () => void {
  return () => {
    try {
      assertThere()
    } catch (error) {
      throw new DatabaseTrouble(error instanceof Error ? error.message : String(error), false)
    }
  }
}

const STEP_PAUSE_MS = 20
