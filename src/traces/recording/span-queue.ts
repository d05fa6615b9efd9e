import type { Span } from '../span.ts'
import { type StoredSpan, storedSpan } from './span-record.ts'
import type { TraceTrouble } from '../trace-settings.ts'
import { DatabaseTrouble } from '../../storage/sqlite/database-thread.ts'
import type { SpanStore } from '../span-store.ts'

/** What is wrong with storing the spans of a project now, and what was lost since the start. */
export interface QueueState {
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
    if (this.#isClosed || this.#size > MOST_WAITING) {
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
    return this.#failures === 0 ? FLUSH_MS : Math.min(RETRY_MS * 2 ** (this.#failures - 1), LONGEST_MS)
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
  return spans.length >= BATCH || size >= BATCH_SIZE
}

/** Spans wait so long for others to be stored with. */
const FLUSH_MS = 100
/** So many spans, or characters of them, go in one transaction. */
const BATCH = 500
const BATCH_SIZE = 4 * 1024 * 1024
/** So many characters wait in memory at most. */
const MOST_WAITING = 64 * 1024 * 1024
/** After a failure it is tried again, at first so soon, in the end so seldom. */
const RETRY_MS = 500
const LONGEST_MS = 30_000
const TELL_AGAIN_MS = 10_000
