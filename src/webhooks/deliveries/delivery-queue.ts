import type { Delivery } from './delivery.ts'
import type { DeliveryStore } from './delivery-store.ts'

/** So many deliveries that are over are kept, of so many characters together, for so long. */
const MOST_KEPT = 1000
const MOST_KEPT_LENGTH = 64 * 1024 ** 2
/** So many may wait, of so many characters together. */
export const MOST_WAITING = 50_000
const MOST_WAITING_LENGTH = 1024 ** 3
const LONGEST_KEPT = 30 * 24 * 60 * 60 * 1000
/** How often the folder is looked at for what other processes added, in milliseconds. */
const LOOK_EVERY = 500

/** What is known of a delivery without its file. */
interface Known {
  readonly eventId: string
  readonly createdAt: number
  /** When it is due, in milliseconds since 1970; undefined once it is over. */
  readonly due: number | undefined
  /** Of its body. */
  readonly length: number
}

/** The deliveries of a webhook as the process that sends them knows them: which wait, until when, and which are over. */
export class DeliveryQueue {
  readonly box: DeliveryStore
  /** Whether one of them is being sent. */
  isBusy = false
  /** When it last had its turn, as a number that grows with each. */
  turn = 0
  readonly #now: () => Date
  readonly #onTrouble: (error: unknown) => void
  readonly #known = new Map<string, Known>()
  /** How many deliveries an event has. */
  readonly #events = new Map<string, number>()
  /** Those that wait, by when they are due. */
  readonly #queue: Waiting[] = []
  #waitingLength = 0
  #notBefore = 0
  #looked = Number.NEGATIVE_INFINITY

  /** `onTrouble` is told why one that is over could not be removed; it is tried again at the next start. */
  constructor(box: DeliveryStore, now: () => Date, onTrouble: (error: unknown) => void = ignore) {
    this.box = box
    this.#now = now
    this.#onTrouble = onTrouble
    this.hear()
  }

  /** How many of them are not over. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Whether more of them wait, or longer ones, than are kept for a receiver that takes none. */
  get isFull(): boolean {
    return this.waiting > MOST_WAITING || this.#waitingLength > MOST_WAITING_LENGTH
  }

  hasEvent(eventId: string): boolean {
    return this.#events.has(eventId)
  }

  /** Takes in deliveries that other processes added, and forgets the oldest of those that are over. */
  hear(): void {
    if (performance.now() - this.#looked < LOOK_EVERY) return
    this.#looked = performance.now()
    if (!this.box.hasMoved()) return
    for (const id of this.box.ids()) {
      const added = this.#known.has(id) ? undefined : this.box.readIfSound(id)
      if (added) this.take(added)
    }
    this.#prune()
  }

  /** Takes in a delivery as it is now. */
  take({
    id,
    event_id: eventId,
    status,
    created_at: createdAt,
    next_attempt_at: next,
    body,
  }: Delivery): void {
    const due = status === 'pending' ? Date.parse(next ?? createdAt) : undefined
    this.#forget(id)
    const { length } = body
    this.#known.set(id, { eventId, createdAt: Date.parse(createdAt), due, length })
    this.#events.set(eventId, (this.#events.get(eventId) ?? 0) + 1)
    if (due === undefined) return
    this.#queue.splice(this.#placeOf({ id, due }), 0, { id, due })
    this.#waitingLength += length
  }

  /** When the next one is due, in milliseconds since 1970; undefined if none waits. */
  nextDue(): number | undefined {
    const [first] = this.#queue
    return first && Math.max(first.due, this.#notBefore)
  }

  /** The one that has been due for longest. */
  next(): Delivery | undefined {
    const [first] = this.#queue
    const read = first && this.box.readIfSound(first.id)
    if (first && !read) this.#forget(first.id) // somebody removed or damaged its file
    return read
  }

  /** Nothing is due before this time. */
  putOff(until: number): void {
    this.#notBefore = until
  }

  #prune(): void {
    const over = [...this.#known]
      .filter(([, { due }]) => due === undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const oldest = this.#now().getTime() - LONGEST_KEPT
    let length = over.reduce((sum, [, known]) => sum + known.length, 0)
    for (const [index, [id, known]] of over.entries()) {
      if (index >= over.length - MOST_KEPT && length <= MOST_KEPT_LENGTH && known.createdAt >= oldest) break
      length -= known.length
      this.box.forget(id).catch(this.#onTrouble)
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    const known = this.#known.get(id)
    if (!known) return
    const { eventId, due, length } = known
    this.#known.delete(id)
    const others = (this.#events.get(eventId) ?? 1) - 1
    if (others === 0) this.#events.delete(eventId)
    else this.#events.set(eventId, others)
    if (due === undefined) return
    this.#queue.splice(this.#placeOf({ id, due }), 1)
    this.#waitingLength -= length
  }

  /** Where it is in the queue, or would be. */
  #placeOf(wanted: Waiting): number {
    let [low, high] = [0, this.#queue.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = this.#queue[middle]
      if (there && isBefore(there, wanted)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function ignore(): void {
  // Nobody asked.
}

interface Waiting {
  readonly id: string
  readonly due: number
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.due === b.due ? a.id < b.id : a.due < b.due
}
