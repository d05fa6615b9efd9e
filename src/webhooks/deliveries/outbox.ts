import { stringifyJson } from '../../json/stringify-json.ts'
import type { Lease } from '../../storage/documents/documents.ts'
import { afterAttempt, GONE } from './retry-schedule.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import type { Delivery } from './delivery.ts'
import { DeliveryQueue, MOST_WAITING } from './delivery-queue.ts'
import type { RegistryEvent } from '../registry-event.ts'
import { matchesFilters } from '../matches-filters.ts'
import type { WebhookSettings } from '../webhook-settings.ts'
import type { WebhookStore } from '../webhook-store.ts'
import type { Webhook } from '../webhook.ts'
import { isSending } from '../webhook.ts'

/** So many requests are under way at once. */
const AT_ONCE = 16
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
        else if (this.#running.size < AT_ONCE) this.#run(webhook, lane)
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
