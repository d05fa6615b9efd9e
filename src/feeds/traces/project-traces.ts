import { Refusal } from '../../errors.ts'
import { DatabaseTrouble } from '../../storage/sqlite.ts'
import type { TracePage, TraceQuestion } from './query/trace-page.ts'
import { type SpanRow, type StoredSpan, storedSpan } from './span-record.ts'
import type { Span } from './span.ts'

/** How long traces are kept. */
export interface TraceRetention {
  /** Traces that began longer ago are removed. */
  readonly maxAgeDays: number
  /** Past so many bytes of a project's traces, the oldest are removed. */
  readonly maxBytes: number
}

/** Something about traces that an operator should know of; requests go on. */
export interface TraceTrouble {
  /** The file of the project's traces, or what their place in a database is called. */
  readonly file: string
  /** A sentence. */
  readonly message: string
}

/** How traces are recorded, kept and asked for. */
export interface TraceSettings {
  /** Whether spans are recorded; what was recorded before can be read all the same. */
  readonly isRecording: boolean
  readonly retention: TraceRetention
  /** How long a question may take, in milliseconds. */
  readonly queryMs: number
  readonly now: () => Date
  readonly onTrouble: (trouble: TraceTrouble) => void
  /** Throws while the store is gone: threads go by the paths of files, and would make them anew. */
  readonly assertThere?: () => void
}

/**
 * Where the spans of one project lie. Everything rejects with `DatabaseTrouble` while that cannot be used; what was asked for may be asked
 * for again then, and no harm is done where it was carried out already.
 */
export interface SpanStore {
  /** What the place is called where an operator is told of it. */
  readonly name: string
  /**
   * Stores spans, all of them or none: one that is there already, by its trace and its own id, is overwritten (interface 12.14).
   * Answers a sentence if something happened that an operator should know of.
   */
  write(spans: readonly StoredSpan[]): Promise<string | undefined>
  /** The spans of these traces, those of each together in the order in which they began. */
  read(traceIds: readonly string[]): Promise<readonly SpanRow[]>
  /** The page of traces or spans that a question asks for. Refuses with `query_too_slow`, or with `overloaded` when too many wait. */
  query(question: TraceQuestion): Promise<TracePage>
  /** The id of some trace whose references name something whose id ends in these digits; undefined if none does. Refuses as `query`. */
  naming(digits: string): Promise<string | undefined>
  /** Removes a trace; answers whether there was one. */
  remove(traceId: string): Promise<boolean>
  /** Removes a little of what is too old or too much; answers whether more remains. `now` is in milliseconds. */
  retain(retention: TraceRetention, now: number): Promise<boolean>
}

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

/** What is wrong with storing the spans of a project now, and what was lost since the start. */
interface QueueState {
  /** Why the last batch could not be stored; it is tried again. */
  readonly failure: string | undefined
  /** Spans that could not be kept. */
  readonly dropped: number
  /** Spans that are not stored yet. */
  readonly waiting: number
}

/**
 * The spans of one project on their way to where they lie: batched, and never waited for by who records them. While that cannot be written
 * they are kept and tried again, up to a bound; past it new ones are dropped, counted and told of.
 */
export class SpanQueue {
  readonly #store: Pick<SpanStore, 'name' | 'write'>
  readonly #onTrouble: (trouble: TraceTrouble) => void
  /** The oldest first; the newest is added to until it is full or on its way. */
  readonly #batches: SpanBatch[] = []
  #size = 0
  #pumping: Promise<void> | undefined
  /** How many spans were ever added, and how many of them are stored or lost. */
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

  /** Takes spans, all or none of them. `now` is in milliseconds. Throws TypeError for attributes that JSON has no word for. */
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

  /** Notes that spans are lost. The first is told of at once, others now and then. */
  drop(count: number, why: string): void {
    this.#dropped += count
    const now = performance.now()
    if (now - this.#toldAt < TELL_AGAIN_MS) return
    this.#toldAt = now
    this.#tell(`${why}: ${this.#dropped} spans have been dropped since the start`)
  }

  /** Resolves once what was added before is stored, or could not be. */
  async settled(): Promise<void> {
    const upTo = this.#added
    while (this.#handled < upTo) {
      await this.#pump()
      if (this.#failure !== undefined) return
    }
  }

  /** Stores what waits; what cannot be stored by now is lost, and so is what comes later. */
  async close(): Promise<void> {
    this.#isClosed = true
    do await this.#pump()
    while (this.#batches.length > 0 && this.#failure === undefined)
    clearTimeout(this.#timer)
    const { waiting } = this.state
    if (waiting > 0) this.#tell(`${waiting} spans could not be stored before the end`)
  }

  /** The batch that spans are added to now. */
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

  /** One batch after the other, as long as whole ones wait. */
  async #storeBatches(): Promise<void> {
    do {
      const [batch] = this.#batches
      if (!batch) return
      if (!(await this.#write(batch))) return
    } while (this.#hasWholeBatch())
  }

  /** Whether the batch is done with; it stays in the queue until then. */
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
      // The same batch would fail for ever.
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
  /** Whether it is on its way, or was and failed: what comes from then on waits for the next. */
  isSent: boolean
}

function isWhole({ spans, size }: SpanBatch): boolean {
  return spans.length >= SPANS_PER_TRANSACTION || size >= CHARACTERS_PER_TRANSACTION
}

/** How long spans wait for others to be stored with. */
const FLUSH_AFTER_MS = 100
const SPANS_PER_TRANSACTION = 500
const CHARACTERS_PER_TRANSACTION = 4 * 1024 * 1024
const MAX_CHARACTERS_WAITING = 64 * 1024 * 1024
/** After a failure, the first pause; each is twice as long as the one before. */
const RETRY_AFTER_MS = 500
const MAX_RETRY_AFTER_MS = 30_000
const TELL_AGAIN_MS = 10_000
