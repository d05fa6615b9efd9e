import { stringifyJson } from '../../../base/json.ts'
import type { Lease } from '../../../storage/files.ts'
import { afterAttempt, attemptDelivery, GONE } from './attempt-delivery.ts'
import type { Delivery, DeliveryStore } from './delivery-store.ts'
import { matchesFilters, type RegistryEvent } from '../registry-event.ts'
import type { WebhookSettings } from '../project-webhooks.ts'
import type { WebhookStore } from '../webhook-store.ts'
import { type Webhook, isSending } from '../webhook.ts'

/** Maximum finished deliveries that are kept, their characters together, and how long they are kept. */
const MOST_KEPT = 1000
const MOST_KEPT_LENGTH = 64 * 1024 ** 2
/** Maximum waiting deliveries, and their characters together. */
const MOST_WAITING = 50_000
const MOST_WAITING_LENGTH = 1024 ** 3
const LONGEST_KEPT = 30 * 24 * 60 * 60 * 1000
/** How often the folder is checked for deliveries of other processes, in milliseconds. */
const LOOK_EVERY = 500

/** The known facts of a delivery, without its file. */
interface Known {
  readonly eventId: string
  readonly createdAt: number
  /** When it is due, in milliseconds since 1970; undefined once it is finished. */
  readonly due: number | undefined
  /** The length of its body. */
  readonly length: number
}

/** The deliveries of a webhook in the process that sends them: the waiting ones with their times, and the finished ones. */
export class DeliveryQueue {
  readonly box: DeliveryStore
  /** Whether one of them is being sent. */
  isBusy = false
  /** The number of its last turn; turns are counted. */
  turn = 0
  readonly #now: () => Date
  readonly #onTrouble: (error: unknown) => void
  readonly #known = new Map<string, Known>()
  /** The number of deliveries of each event. */
  readonly #events = new Map<string, number>()
  /** The waiting ones, by due time. */
  readonly #queue: Waiting[] = []
  #waitingLength = 0
  #notBefore = 0
  #looked = Number.NEGATIVE_INFINITY

  /** `onTrouble` receives the reason why a finished one could not be removed; the next start tries again. */
  constructor(box: DeliveryStore, now: () => Date, onTrouble: (error: unknown) => void = ignore) {
    this.box = box
    this.#now = now
    this.#onTrouble = onTrouble
    this.hear()
  }

  /** The number of unfinished deliveries. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Whether the limits for waiting deliveries are reached. */
  get isFull(): boolean {
    return this.waiting > MOST_WAITING || this.#waitingLength > MOST_WAITING_LENGTH
  }

  hasEvent(eventId: string): boolean {
    return this.#events.has(eventId)
  }

  /** Adds deliveries of other processes, and drops the oldest finished ones. */
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

  /** Adds the current state of a delivery. */
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

  /** The one that has been due longest. */
  next(): Delivery | undefined {
    const [first] = this.#queue
    const read = first && this.box.readIfSound(first.id)
    if (first && !read) this.#forget(first.id) // its file was removed or damaged
    return read
  }

  /** Postpones all until this time. */
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

  /** Its position in the queue, or the position for it. */
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
  // No caller waits for the error.
}

interface Waiting {
  readonly id: string
  readonly due: number
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.due === b.due ? a.id < b.id : a.due < b.due
}

const MAX_REQUESTS_AT_ONCE = 16
/** The longest pause before checking for due deliveries and those of other processes, in milliseconds. */
const LONGEST_NAP = 1000
/** The pause, in milliseconds, for a webhook whose deliveries cannot be stored. */
const AFTER_TROUBLE = 30_000

/**
 * Sends deliveries to their webhooks. Each webhook has a lane with one request at a time. Deliveries are sent in the order of their events;
 * a failed one waits aside for its next attempt, so that it does not delay others. Lanes take turns, so slow receivers delay others by at
 * most one attempt each. One process of a store has the outbox of a project (see EventPublisher). Every step is on the disk, so that
 * another process can continue.
 */
export class Outbox {
  readonly #shelf: WebhookStore
  readonly #settings: WebhookSettings
  readonly #lease: Lease
  readonly #lanes = new Map<string, DeliveryQueue>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** The number of turns so far. */
  #turns = 0

  /** `lease` is the sender's lease. */
  constructor(shelf: WebhookStore, settings: WebhookSettings, lease: Lease) {
    this.#shelf = shelf
    this.#settings = settings
    this.#lease = lease
  }

  /** The number of unfinished deliveries. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, lane) => sum + lane.waiting, 0)
  }

  /** Adds an event to the lane of every webhook that wants it; it is on the disk when this resolves. */
  async put(event: RegistryEvent): Promise<void> {
    const wanting = this.#shelf.list().filter((it) => isSending(it) && matchesFilters(it, event))
    if (wanting.length === 0) return
    const { id, type, timestamp, data } = event
    const body = stringifyJson({ type, timestamp, data })
    await Promise.all(
      wanting.map(async (webhook) => {
        const lane = this.#laneOf(webhook.id)
        // A crash lost the note that the event was published, so it was computed again.
        if (lane.hasEvent(id)) return
        const made = lane.box.make({ event_id: id, event_type: type, body }, this.#settings.now())
        await lane.box.add(made)
        lane.take(made)
        if (lane.isFull) await this.#switchOff(webhook.id, TOO_MANY)
      }),
    )
  }

  /** Starts sending due deliveries, from now on. */
  go(): void {
    clearTimeout(this.#timer)
    if (this.#stopping.signal.aborted) return
    this.#timer = setTimeout(() => this.go(), this.#setOut())
    this.#timer.unref()
  }

  /** Aborts running attempts, which will be repeated; resolves once nothing is written any more. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  /** Starts due deliveries; answers the milliseconds until the next check. */
  #setOut(): number {
    let nap = LONGEST_NAP
    const now = this.#settings.now().getTime()
    try {
      for (const [webhook, lane] of this.#inTurn()) {
        lane.hear()
        if (!isSending(webhook) || lane.isBusy) continue
        const due = lane.nextDue()
        if (due === undefined) continue
        if (due > now) nap = Math.min(nap, due - now)
        else if (this.#running.size < MAX_REQUESTS_AT_ONCE) this.#run(webhook, lane)
      }
    } catch (error) {
      this.#settings.onTrouble(error)
    }
    return Math.max(1, nap)
  }

  /** The lane whose last turn is longest ago comes first. */
  #inTurn(): (readonly [Webhook, DeliveryQueue])[] {
    return this.#shelf
      .list()
      .map((webhook) => [webhook, this.#laneOf(webhook.id)] as const)
      .sort(([, a], [, b]) => a.turn - b.turn)
  }

  #run(webhook: Webhook, lane: DeliveryQueue): void {
    lane.isBusy = true
    lane.turn = ++this.#turns
    const run = this.#deliverNext(webhook, lane)
      .catch((error: unknown) => {
        // The result could not be stored: the receiver must not get the delivery again and again until it can.
        lane.putOff(this.#settings.now().getTime() + AFTER_TROUBLE)
        this.#settings.onTrouble(error)
      })
      .finally(() => {
        lane.isBusy = false
        this.#running.delete(run)
        this.go()
      })
    this.#running.add(run)
  }

  async #deliverNext(webhook: Webhook, lane: DeliveryQueue): Promise<void> {
    const before = lane.next()
    if (!before) return
    const attempt = await attemptDelivery(webhook, before, this.#settings, this.#stopping.signal)
    if (this.#stopping.signal.aborted && attempt.error !== undefined) return
    const after: Delivery = afterAttempt(before, attempt, this.#settings)
    if (attempt.status_code === GONE) await this.#switchOff(webhook.id, WAS_GONE)
    await lane.box.change(this.#lease, after)
    lane.take(after)
  }

  async #switchOff(id: string, reason: string): Promise<void> {
    await this.#shelf.change(id, (before) => ({ ...before, is_active: false, inactive_reason: reason }))
  }

  #laneOf(id: string): DeliveryQueue {
    const { now, onTrouble } = this.#settings
    const lane = this.#lanes.get(id) ?? new DeliveryQueue(this.#shelf.deliveries(id), now, onTrouble)
    this.#lanes.set(id, lane)
    return lane
  }
}

const TOO_MANY =
  `More than ${MOST_WAITING} deliveries, or 1 GiB of them, wait because the receiver does not take them. They are kept; what happened since this was ` +
  `switched off is not.`
const WAS_GONE = 'The receiver answered 410: it wants no more events.'
