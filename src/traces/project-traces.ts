import { Refusal } from '../errors.ts'
import { DatabaseTrouble } from '../storage/sqlite/database-thread.ts'
import type { TracePage, TraceQuestion } from './query/trace-page.ts'
import type { SpanRow } from './recording/span-record.ts'
import { SpanQueue, type QueueState } from './recording/span-queue.ts'
import type { Span } from './span.ts'
import type { SpanStore } from './span-store.ts'
import type { TraceSettings } from './trace-settings.ts'

/**
 * The traces of one project. Whoever records waits for nothing; whoever asks finds everything that this process recorded before.
 * Questions refuse with `storage_unavailable` when they cannot be read.
 */
export class ProjectTraces {
  readonly #store: SpanStore
  readonly #settings: TraceSettings
  readonly #queue: SpanQueue
  #isRetaining = false
  #isClosed = false

  constructor(store: SpanStore, settings: TraceSettings) {
    this.#store = store
    this.#settings = settings
    this.#queue = new SpanQueue(store, settings.onTrouble)
  }

  /** What the place of the traces is called where an operator is told of it. */
  get name(): string {
    return this.#store.name
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
    return this.#asked(() => this.#store.read(traceIds))
  }

  /** The page of traces or spans that a question asks for. */
  async query(question: TraceQuestion): Promise<TracePage> {
    return this.#asked(() => this.#store.query(question))
  }

  /** The id of some trace that names something whose id ends in these digits; undefined if none does. */
  async naming(digits: string): Promise<string | undefined> {
    return this.#asked(() => this.#store.naming(digits))
  }

  /** Removes a trace; answers whether there was one. */
  async remove(traceId: string): Promise<boolean> {
    return this.#asked(() => this.#store.remove(traceId))
  }

  /** Removes what is too old or too much, in small steps with pauses for others between them. */
  async retain(): Promise<void> {
    if (this.#isRetaining) return
    this.#isRetaining = true
    try {
      const { retention, now } = this.#settings
      while (!this.#isClosed && (await this.#store.retain(retention, now().getTime())))
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

  /** An answer after what was recorded. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    await this.#queue.settled()
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DatabaseTrouble)) throw error
      throw new Refusal(
        'storage_unavailable',
        `The traces cannot be read now: ${error.message}. Ask again later.`,
      )
    }
  }
}

const STEP_PAUSE_MS = 20
