import type { Span } from '../span.ts'
import { SpanBatch } from './span-batch.ts'
import type { TraceTrouble } from '../trace-settings.ts'
import { TraceStorageError, type TraceThreadHandle } from '../storage/trace-thread-handle.ts'

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
 * The spans of one project on their way to its file: batched, and never waited for by who records them. While the file cannot be written
 * they are kept and tried again, up to a bound; past it new ones are dropped, counted and told of.
 */
export class SpanQueue {
  readonly #file: string
  readonly #thread: Pick<TraceThreadHandle, 'call'>
  readonly #onTrouble: (trouble: TraceTrouble) => void
  /** The oldest first; the newest is added to until it is full or on its way. */
  readonly #batches: SpanBatch[] = []
  #open: SpanBatch | undefined
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

  constructor(
    file: string,
    thread: Pick<TraceThreadHandle, 'call'>,
    onTrouble: (trouble: TraceTrouble) => void,
  ) {
    this.#file = file
    this.#thread = thread
    this.#onTrouble = onTrouble
  }

  get state(): QueueState {
    return { failure: this.#failure, dropped: this.#dropped, waiting: this.#added - this.#handled }
  }

  /** Takes spans, all or none of them. `now` is in milliseconds. Throws TypeError for attributes that JSON has no word for. */
  add(spans: readonly Span[], now: number): void {
    if (this.#isClosed || this.#size > MOST_BYTES) {
      this.drop(spans.length, 'more spans come than can be stored')
      return
    }
    const open = this.#openBatch()
    const before = open.size
    open.add(spans, now)
    this.#size += open.size - before
    this.#added += spans.length
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
    if (this.#open && !isWhole(this.#open)) return this.#open
    const batch = new SpanBatch()
    this.#batches.push(batch)
    this.#open = batch
    return batch
  }

  #hasWholeBatch(): boolean {
    return this.#batches.length > 1 || (this.#open !== undefined && isWhole(this.#open))
  }

  #pump(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pumping ??= this.#store().finally(() => {
      this.#pumping = undefined
      if (this.#batches.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => void this.#pump(), this.#pause())
    })
    return this.#pumping
  }

  /** One batch after the other, as long as whole ones wait. */
  async #store(): Promise<void> {
    do {
      const [batch] = this.#batches
      if (!batch) return
      // what comes from now on waits for the next
      if (batch === this.#open) this.#open = undefined
      if (!(await this.#write(batch))) return
    } while (this.#hasWholeBatch())
  }

  /** Whether the batch is done with; it stays in the queue until then. */
  async #write(batch: SpanBatch): Promise<boolean> {
    try {
      const sent = batch.sent()
      const told = await this.#thread.call('write', this.#file, sent, [sent.lines.buffer])
      if (told !== undefined) this.#tell(told)
      if (this.#failure !== undefined) this.#tell('traces can be stored again')
      this.#failure = undefined
      this.#failures = 0
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof TraceStorageError) {
        if (this.#failures++ === 0) this.#tell(`traces cannot be stored, and wait: ${message}`)
        this.#failure = message
        return false
      }
      // The same batch would fail for ever.
      this.drop(batch.count, `spans could not be stored (${message})`)
    }
    this.#batches.shift()
    this.#handled += batch.count
    this.#size -= batch.size
    return true
  }

  #pause(): number {
    return this.#failures === 0 ? FLUSH_MS : Math.min(RETRY_MS * 2 ** (this.#failures - 1), LONGEST_MS)
  }

  #tell(message: string): void {
    this.#onTrouble({ file: this.#file, message: `${message}.` })
  }
}

function isWhole({ count, size }: SpanBatch): boolean {
  return count >= BATCH || size >= BATCH_BYTES
}

/** Spans wait so long for others to be stored with. */
const FLUSH_MS = 100
/** So many spans, or bytes of them, go in one transaction. */
const BATCH = 500
const BATCH_BYTES = 4 * 1024 * 1024
/** So much waits in memory at most. */
const MOST_BYTES = 64 * 1024 * 1024
/** After a failure it is tried again, at first so soon, in the end so seldom. */
const RETRY_MS = 500
const LONGEST_MS = 30_000
const TELL_AGAIN_MS = 10_000
