import { stringifyJson } from '../../../base/json.ts'
import type { Lease } from '../../../storage/files.ts'
import { afterAttempt, attemptDelivery, GONE } from './attempt-delivery.ts'
import type { Delivery, DeliveryStore } from './delivery-store.ts'
import { matchesFilters, type RegistryEvent } from '../registry-event.ts'
import type { WebhookSettings } from '../project-webhooks.ts'
import type { WebhookStore } from '../webhook-store.ts'
import { type Webhook, isSending } from '../webhook.ts'

/** So many deliveries that are over are kept, of so many characters together, for so long. */
const MOST_KEPT = 1000
const MOST_KEPT_LENGTH = 64 * 1024 ** 2
/** So many may wait, of so many characters together. */
const MOST_WAITING = 50_000
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

const MAX_REQUESTS_AT_ONCE = 16
/** The longest time to a look at what is due, and at what other processes added, in milliseconds. */
const LONGEST_NAP = 1000
/** How long a webhook whose deliveries cannot be kept is left alone, in milliseconds. */
const AFTER_TROUBLE = 30_000

/**
 * Brings deliveries to their webhooks. Each webhook has a lane, with one request at a time: deliveries set out in the order of their
 * events, and one that fails steps aside until its next attempt is due, so that it holds up no other. Lanes take turns: receivers that
 * hang, however many, hold the others up for one attempt each and not for ever. Of all processes of a
 * store one has the outbox of a project (see EventPublisher); every step it takes is on the disk, and another one can go on from there.
 */
export class Outbox {
  readonly #shelf: WebhookStore
  readonly #settings: WebhookSettings
  readonly #lease: Lease
  readonly #lanes = new Map<string, DeliveryQueue>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** How often a lane has set out. */
  #turns = 0

  /** `lease` is that of who sends them. */
  constructor(shelf: WebhookStore, settings: WebhookSettings, lease: Lease) {
    this.#shelf = shelf
    this.#settings = settings
    this.#lease = lease
  }

  /** How many deliveries are not over. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, lane) => sum + lane.waiting, 0)
  }

  /** Puts an event into the lane of every webhook that wants it; once this resolves it is on the disk. */
  async put(event: RegistryEvent): Promise<void> {
    const wanting = this.#shelf.list().filter((it) => isSending(it) && matchesFilters(it, event))
    if (wanting.length === 0) return
    const { id, type, timestamp, data } = event
    const body = stringifyJson({ type, timestamp, data })
    await Promise.all(
      wanting.map(async (webhook) => {
        const lane = this.#laneOf(webhook.id)
        // Worked out twice: a crash kept the note that it was told.
        if (lane.hasEvent(id)) return
        const made = lane.box.make({ event_id: id, event_type: type, body }, this.#settings.now())
        await lane.box.add(made)
        lane.take(made)
        if (lane.isFull) await this.#switchOff(webhook.id, TOO_MANY)
      }),
    )
  }

  /** Sets out with what is due, now and from now on. */
  go(): void {
    clearTimeout(this.#timer)
    if (this.#stopping.signal.aborted) return
    this.#timer = setTimeout(() => this.go(), this.#setOut())
    this.#timer.unref()
  }

  /** Gives up what is under way, which will be attempted again; resolves once nothing is written any more. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  /** Answers after how many milliseconds there is something to look at again. */
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

  /** Whoever has not set out for longest comes first. */
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
        // What came of it could not be kept: the receiver must not get it again and again until it can.
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
