import { Refusal } from '../../errors.ts'
import { DatabaseTrouble } from '../../storage/sqlite.ts'
import type { TracePage, TraceQuestion } from './query/trace-page.ts'
import { type SpanRow, type StoredSpan, storedSpan } from './span-record.ts'
import type { Span } from './span.ts'

/** How long traces are kept. */
export interface TraceRetention {
  /** Traces that began earlier are removed. */
  readonly maxAgeDays: number
  /** If a project's traces have more bytes, the oldest are removed. */
  readonly maxBytes: number
}

/** A problem with traces for the operator's log; requests continue. */
export interface TraceTrouble {
  /** The file of the project's traces, or the name of their place in a database. */
  readonly file: string
  /** A sentence. */
  readonly message: string
}

/** How traces are recorded, kept and queried. */
export interface TraceSettings {
  /** Whether spans are recorded; recorded ones are readable in any case. */
  readonly isRecording: boolean
  readonly retention: TraceRetention
  /** The time limit of a query, in milliseconds. */
  readonly queryMs: number
  readonly now: () => Date
  readonly onTrouble: (trouble: TraceTrouble) => void
  /** Throws while the store is missing, because threads would create its files again. */
  readonly assertThere?: () => void
}

/**
 * Stores the spans of one project. Methods reject with `DatabaseTrouble` while the storage cannot be used; they may then be repeated, even
 * if the work was done.
 */
export interface SpanStore {
  /** The storage's name in messages to the operator. */
  readonly name: string
  /**
   * Stores spans, all or none. An existing span with the same trace id and span id is overwritten (interface 12.14). Answers a sentence if
   * the operator should know of something.
   */
  write(spans: readonly StoredSpan[]): Promise<string | undefined>
  /** The spans of these traces, each trace's together, by start time. */
  read(traceIds: readonly string[]): Promise<readonly SpanRow[]>
  /** A page of traces or spans for a query. Refuses with `query_too_slow`, or with `overloaded` if too many wait. */
  query(question: TraceQuestion): Promise<TracePage>
  /** The id of a trace that refers to something whose id ends in these digits; undefined if there is none. Refuses as `query`. */
  naming(digits: string): Promise<string | undefined>
  /** Removes a trace; answers whether it existed. */
  remove(traceId: string): Promise<boolean>
  /** Removes some traces that are too old or too many; answers whether more remain. `now` is in milliseconds. */
  retain(retention: TraceRetention, now: number): Promise<boolean>
}

/**
 * The traces of one project. Recording never waits; a query finds everything that this process recorded before. Queries refuse with
 * `storage_unavailable` if traces cannot be read.
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

  /** The storage's name in messages to the operator. */
  get name(): string {
    return this.#store.name
  }

  get state(): QueueState {
    return this.#queue.state
  }

  /** Records the spans of a trace. Never throws and never waits, because the run matters more than its trace. */
  record(spans: readonly Span[]): void {
    if (!this.#settings.isRecording) return
    const now = this.#settings.now().getTime()
    try {
      this.#queue.add(spans, now)
    } catch (error) {
      this.#queue.drop(spans.length, `spans cannot be written as JSON (${(error as Error).message})`)
    }
  }

  /** Resolves once everything recorded before is stored, or could not be. */
  async stored(): Promise<void> {
    await this.#queue.settled()
  }

  /** The spans of these traces, each trace's together, by start time. */
  async read(traceIds: readonly string[]): Promise<readonly SpanRow[]> {
    return this.#asked(() => this.#store.read(traceIds))
  }

  /** The time limit of a query, in milliseconds. */
  get queryMs(): number {
    return this.#settings.queryMs
  }

  /** A page of traces or spans for a query. A query whose caller is gone before its turn is not made. */
  async query(question: TraceQuestion, signal?: AbortSignal): Promise<TracePage> {
    return this.#asked(() => {
      signal?.throwIfAborted()
      return this.#store.query(question)
    })
  }

  /** Whether a request may add spans to this trace. */
  async isOpenTo(_traceId: string): Promise<boolean> {
    return true
  }

  /** Stores spans, all or none; resolves when they are stored. */
  async write(spans: readonly StoredSpan[]): Promise<void> {
    await this.#asked(() => this.#store.write(spans))
  }

  /** The id of a trace that refers to something whose id ends in these digits; undefined if there is none. */
  async naming(digits: string): Promise<string | undefined> {
    return this.#asked(() => this.#store.naming(digits))
  }

  /** Removes a trace; answers whether it existed. */
  async remove(traceId: string): Promise<boolean> {
    return this.#asked(() => this.#store.remove(traceId))
  }

  /** Removes traces that are too old or too many, in small steps with pauses for other work. */
  async retain(): Promise<void> {
    if (this.#isRetaining) return
    this.#isRetaining = true
    try {
      const { retention, now } = this.#settings
      while (!this.#isClosed && (await this.#store.retain(retention, now().getTime())))
        await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS))
    } catch (error) {
      // The queue reports why writing fails; the next round tries again.
      if (!(error instanceof DatabaseTrouble)) throw error
    } finally {
      this.#isRetaining = false
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#queue.close()
  }

  /** Runs a query after everything recorded before is stored. */
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

/** The current problem of storing a project's spans, and the losses since the start. */
interface QueueState {
  /** Why the last batch could not be stored; it is tried again. */
  readonly failure: string | undefined
  /** Lost spans. */
  readonly dropped: number
  /** Spans that are not stored yet. */
  readonly waiting: number
}

/**
 * The queue of one project's spans: it stores them in batches, and recording never waits. While they cannot be stored, they are kept and
 * tried again, up to a limit; further ones are dropped, counted and reported.
 */
export class SpanQueue {
  readonly #store: Pick<SpanStore, 'name' | 'write'>
  readonly #onTrouble: (trouble: TraceTrouble) => void
  /** Oldest first; the newest accepts more spans until it is full or being sent. */
  readonly #batches: SpanBatch[] = []
  #size = 0
  #pumping: Promise<void> | undefined
  /** The number of added spans, and of those that are stored or lost. */
  #added = 0
  #handled = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #failure: string | undefined
  #dropped = 0
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<SpanStore, 'name' | 'write'>, onTrouble: (trouble: TraceTrouble) => void) {
    this.#store = store
    this.#onTrouble = onTrouble
  }

  get state(): QueueState {
    return { failure: this.#failure, dropped: this.#dropped, waiting: this.#added - this.#handled }
  }

  /** Adds spans, all or none. `now` is in milliseconds. Throws TypeError for attributes that JSON cannot express. */
  add(spans: readonly Span[], now: number): void {
    if (this.#isClosed || this.#size > MAX_CHARACTERS_WAITING) {
      this.drop(spans.length, 'more spans come than can be stored')
      return
    }
    const rows = spans.map((span) => storedSpan(span, now))
    const size = rows.reduce((sum, { record }) => sum + record.length, 0)
    const batch = this.#openBatch()
    for (const row of rows) batch.spans.push(row)
    batch.size += size
    this.#size += size
    this.#added += rows.length
    if (this.#failure === undefined && this.#hasWholeBatch()) void this.#pump()
    else this.#timer ??= setTimeout(() => void this.#pump(), this.#pause())
  }

  /** Counts lost spans. Reports the first at once, and later ones now and then. */
  drop(count: number, why: string): void {
    this.#dropped += count
    const now = performance.now()
    if (now - this.#toldAt < TELL_AGAIN_MS) return
    this.#toldAt = now
    this.#tell(`${why}: ${this.#dropped} spans have been dropped since the start`)
  }

  /** Resolves once everything added before is stored, or could not be. */
  async settled(): Promise<void> {
    const upTo = this.#added
    while (this.#handled < upTo) {
      await this.#pump()
      if (this.#failure !== undefined) return
    }
  }

  /** Stores what waits; spans that cannot be stored now, and later ones, are lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    do await this.#pump()
    while (this.#batches.length > 0 && this.#failure === undefined)
    clearTimeout(this.#timer)
    const { waiting } = this.state
    if (waiting > 0) this.#tell(`${waiting} spans could not be stored before the end`)
  }

  /** The batch to which spans are added now. */
  #openBatch(): SpanBatch {
    const last = this.#batches.at(-1)
    if (last && !last.isSent && !isWhole(last)) return last
    const batch = { spans: [], size: 0, isSent: false }
    this.#batches.push(batch)
    return batch
  }

  #hasWholeBatch(): boolean {
    const [first] = this.#batches
    return this.#batches.length > 1 || (first !== undefined && !first.isSent && isWhole(first))
  }

  #pump(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pumping ??= this.#storeBatches().finally(() => {
      this.#pumping = undefined
      if (this.#batches.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => void this.#pump(), this.#pause())
    })
    return this.#pumping
  }

  /** Stores one batch after the other while full ones wait. */
  async #storeBatches(): Promise<void> {
    do {
      const [batch] = this.#batches
      if (!batch) return
      if (!(await this.#write(batch))) return
    } while (this.#hasWholeBatch())
  }

  /** Stores a batch; answers whether it is done. Until then it stays in the queue. */
  async #write(batch: SpanBatch): Promise<boolean> {
    batch.isSent = true
    try {
      const told = await this.#store.write(batch.spans)
      if (told !== undefined) this.#tell(told)
      if (this.#failure !== undefined) this.#tell('traces can be stored again')
      this.#failure = undefined
      this.#failures = 0
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof DatabaseTrouble) {
        if (this.#failures++ === 0) this.#tell(`traces cannot be stored, and wait: ${message}`)
        this.#failure = message
        return false
      }
      // The same batch would always fail.
      this.drop(batch.spans.length, `spans could not be stored (${message})`)
    }
    this.#batches.shift()
    this.#handled += batch.spans.length
    this.#size -= batch.size
    return true
  }

  #pause(): number {
    return this.#failures === 0
      ? FLUSH_AFTER_MS
      : Math.min(RETRY_AFTER_MS * 2 ** (this.#failures - 1), MAX_RETRY_AFTER_MS)
  }

  #tell(message: string): void {
    this.#onTrouble({ file: this.#store.name, message: `${message}.` })
  }
}

/** Spans that are stored together. */
interface SpanBatch {
  readonly spans: StoredSpan[]
  /** Characters of their records. */
  size: number
  /** Whether it is being sent, or was sent and failed: later spans go to the next one. */
  isSent: boolean
}

function isWhole({ spans, size }: SpanBatch): boolean {
  return spans.length >= SPANS_PER_TRANSACTION || size >= CHARACTERS_PER_TRANSACTION
}

/** Milliseconds in which spans are collected for a batch. */
const FLUSH_AFTER_MS = 100
const SPANS_PER_TRANSACTION = 500
const CHARACTERS_PER_TRANSACTION = 4 * 1024 * 1024
const MAX_CHARACTERS_WAITING = 64 * 1024 * 1024
/** The first pause after a failure; each next one is twice as long. */
const RETRY_AFTER_MS = 500
const MAX_RETRY_AFTER_MS = 30_000
const TELL_AGAIN_MS = 10_000
