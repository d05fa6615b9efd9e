import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { type Documents, type Lease, documentsOf, type Fs } from '../../../storage/files.ts'
import {
  damageOf,
  cutWindow,
  type Ordered,
  type Window,
  type Windowing,
} from '../../../registry/registries.ts'
import { webhookRecordFile } from '../webhook.ts'

/** One attempt of a delivery. */
export const attempt = z.strictObject({
  at: z.iso.datetime(),
  duration_ms: z.number(),
  /** The status of the answer; absent if there was none. */
  status_code: z.number().optional(),
  /** Why the attempt failed. */
  error: z.string().optional(),
})
export type Attempt = Readonly<z.infer<typeof attempt>>

/** `deliveries/<id>.json`: an event for a webhook, waiting, delivered, or given up. */
export const delivery = z.strictObject({
  /** A UUIDv7, whose order is that of the events. */
  id: z.uuid(),
  webhook_id: z.uuid(),
  /** The event's id: the header `webhook-id`, the same in every attempt and redelivery. */
  event_id: z.uuid(),
  event_type: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.array(attempt).readonly(),
  created_at: z.iso.datetime(),
  /** The time of the next attempt, while it is pending. */
  next_attempt_at: z.iso.datetime().optional(),
  /** The delivery that this one repeats. */
  redelivery_of: z.uuid().optional(),
  /** The body, exactly as sent and signed. */
  body: z.string(),
})
export type Delivery = Readonly<z.infer<typeof delivery>>

/** Coarser than the clock of any file system, in milliseconds. */
const A_TICK = 2000

/** More than the outbox keeps of waiting and finished deliveries. */
const MOST = 52_000
const FILES_BETWEEN_CLOCK_READS = 32

/** A UUIDv7 as the file name of a delivery. */
const UUID7_FILE = /^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.json$/

/** The data for a new delivery. */
export type NewDelivery = Pick<Delivery, 'event_id' | 'event_type' | 'body'> &
  Partial<Pick<Delivery, 'redelivery_of'>>

const deliveryFile = webhookRecordFile(delivery)

/** The deliveries of one webhook: a file for each, in the order of their ids. Any process may add some; only one changes them. */
export class DeliveryStore {
  readonly #fs: Fs
  readonly #documents: Documents
  readonly #folder: string
  readonly #webhookId: string
  #seen: number | undefined

  /** `folder` is the webhook's folder. */
  constructor(fs: Fs, folder: string, webhookId: string) {
    this.#fs = fs
    this.#documents = documentsOf(fs)
    this.#folder = `${folder}/deliveries`
    this.#webhookId = webhookId
  }

  /** The ids of all deliveries, oldest first. */
  ids(): string[] {
    const names = this.#fs.readDir(this.#folder) ?? []
    // A file that is not a delivery may be here; it has no place in their order.
    return names.flatMap((name) => UUID7_FILE.exec(name)?.[1] ?? []).sort()
  }

  /**
   * Refuses another delivery if there are too many because no server sends them. The sender limits finished deliveries and those of events;
   * this limit is for requested ones.
   */
  assertRoom(): void {
    if (this.ids().length < MOST) return
    throw new Refusal(
      'limit_exceeded',
      `The webhook ${this.#webhookId} has ${MOST} deliveries already. Ask again once its receiver has taken some of them.`,
    )
  }

  /** Whether any process may have added or removed deliveries since the last call. */
  hasMoved(): boolean {
    const modified = this.#fs.stat(this.#folder)?.modified
    // Two changes within one tick of the file system's clock have the same time.
    const isSure = modified === undefined || Date.now() - modified > A_TICK
    const hasMoved = modified !== this.#seen
    this.#seen = isSure ? modified : undefined
    return hasMoved
  }

  read(id: string): Delivery | undefined {
    const path = this.#pathOf(id)
    const found = deliveryFile.read(this.#fs, path)
    // The path of the next state is derived from the id; a copy under another name would overwrite another file.
    if (found && (found.id !== id || found.webhook_id !== this.#webhookId)) throw deliveryFile.damaged(path)
    return found
  }

  /** The same, but undefined for a damaged file too, because one must not hide the others. */
  readIfSound(id: string): Delivery | undefined {
    try {
      return this.read(id)
    } catch (error) {
      if (!(error instanceof Refusal) && !damageOf(error, this.#folder)) throw error
      return undefined
    }
  }

  /** Makes a delivery to be attempted at once, without storing it. `id` must be a UUIDv7. */
  make(event: NewDelivery, now: Date, id = uuidv7()): Delivery {
    const at = now.toISOString()
    const rest = { status: 'pending' as const, attempts: [], created_at: at, next_attempt_at: at }
    return { id, webhook_id: this.#webhookId, ...event, ...rest }
  }

  /** Stores a new delivery; it is on the disk when this resolves. */
  async add(added: Delivery): Promise<void> {
    await deliveryFile.put(this.#documents, this.#pathOf(added.id), added)
  }

  /**
   * Stores the new state of a delivery; requires the sender's lease. After a power cut the old state may be back, and then it is attempted
   * again.
   */
  change(lease: Lease, changed: Delivery): Promise<void> {
    return deliveryFile.put(lease, this.#pathOf(changed.id), changed, { mayBeLost: true })
  }

  forget(id: string): Promise<void> {
    return this.#documents.remove(this.#pathOf(id))
  }

  /** The matching deliveries, by creation. */
  async query(
    windowing: Windowing | undefined,
    matches: (candidate: Delivery) => boolean,
  ): Promise<Window<Delivery>> {
    const rows = this.ids().map((id): Ordered<string> => ({ id, createdAt: creationOf(id), value: id }))
    const found: Delivery[] = []
    const slice = new TimeSlice()
    let looks = 0
    const { next } = await cutWindow(rows, windowing, async (id) => {
      if (++looks % FILES_BETWEEN_CLOCK_READS === 0 && slice.isOver) await slice.rest()
      const candidate = this.readIfSound(id)
      if (!candidate || !matches(candidate)) return false
      found.push(candidate)
      return true
    })
    // The extra one, which only shows that there are more, is not part of the window.
    return { rows: windowing?.limit === undefined ? found : found.slice(0, windowing.limit), next }
  }

  #pathOf(id: string): string {
    return `${this.#folder}/${id}.json`
  }
}

/** The milliseconds at the beginning of a UUIDv7 (RFC 9562, 5.7). */
function creationOf(id: string): string {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
}
