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

/** One try at handing a delivery over. */
export const attempt = z.strictObject({
  at: z.iso.datetime(),
  duration_ms: z.number(),
  /** What was answered; absent where nothing was. */
  status_code: z.number().optional(),
  /** Why it does not count as delivered. */
  error: z.string().optional(),
})
export type Attempt = Readonly<z.infer<typeof attempt>>

/** `deliveries/<id>.json`: an event on its way to a webhook, or arrived, or given up. */
export const delivery = z.strictObject({
  /** A UUIDv7: its order is that of the events. */
  id: z.uuid(),
  webhook_id: z.uuid(),
  /** Of the event: the header `webhook-id`, the same in every attempt and redelivery. */
  event_id: z.uuid(),
  event_type: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.array(attempt).readonly(),
  created_at: z.iso.datetime(),
  /** When it is tried next, while it is pending. */
  next_attempt_at: z.iso.datetime().optional(),
  /** The delivery that was asked to be made again. */
  redelivery_of: z.uuid().optional(),
  /** The body, as it is sent and signed. */
  body: z.string(),
})
export type Delivery = Readonly<z.infer<typeof delivery>>

/** Coarser than the clock of any file system, in milliseconds. */
const A_TICK = 2000

/** More than the outbox leaves of those that wait and those that are over. */
const MOST = 52_000
const FILES_BETWEEN_CLOCK_READS = 32

/** A UUIDv7, as a delivery's file is named. */
const UUID7_FILE = /^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.json$/

/** What a delivery is made of. */
export type NewDelivery = Pick<Delivery, 'event_id' | 'event_type' | 'body'> &
  Partial<Pick<Delivery, 'redelivery_of'>>

const deliveryFile = webhookRecordFile(delivery)

/** The deliveries of one webhook: a file each, in the order of their ids. Any process may add some; one changes them. */
export class DeliveryStore {
  readonly #fs: Fs
  readonly #documents: Documents
  readonly #folder: string
  readonly #webhookId: string
  #seen: number | undefined

  /** `folder` is that of the webhook. */
  constructor(fs: Fs, folder: string, webhookId: string) {
    this.#fs = fs
    this.#documents = documentsOf(fs)
    this.#folder = `${folder}/deliveries`
    this.#webhookId = webhookId
  }

  /** The ids of all deliveries, oldest first. */
  ids(): string[] {
    const names = this.#fs.readDir(this.#folder) ?? []
    // Anybody may have put a file there; one that no delivery is in has no place in their order.
    return names.flatMap((name) => UUID7_FILE.exec(name)?.[1] ?? []).sort()
  }

  /**
   * Refuses one more where nobody takes them. What is kept of those that are over is bounded where they are sent, and what events add
   * there, too; this is for what somebody asks for.
   */
  assertRoom(): void {
    if (this.ids().length < MOST) return
    throw new Refusal(
      'limit_exceeded',
      `The webhook ${this.#webhookId} has ${MOST} deliveries already. Ask again once its receiver has taken some of them.`,
    )
  }

  /** Whether deliveries may have been added or removed, by whomever, since the last time this was asked. */
  hasMoved(): boolean {
    const modified = this.#fs.stat(this.#folder)?.modified
    // Two changes within one tick of the file system's clock leave one time.
    const isSure = modified === undefined || Date.now() - modified > A_TICK
    const hasMoved = modified !== this.#seen
    this.#seen = isSure ? modified : undefined
    return hasMoved
  }

  read(id: string): Delivery | undefined {
    const path = this.#pathOf(id)
    const found = deliveryFile.read(this.#fs, path)
    // Where its next state is written follows from the id; a copy under another name would be another file's.
    if (found && (found.id !== id || found.webhook_id !== this.#webhookId)) throw deliveryFile.damaged(path)
    return found
  }

  /** The same, but undefined also where the file is damaged: one must not hide the others. */
  readIfSound(id: string): Delivery | undefined {
    try {
      return this.read(id)
    } catch (error) {
      if (!(error instanceof Refusal) && !damageOf(error, this.#folder)) throw error
      return undefined
    }
  }

  /** A delivery that is to be attempted at once; it is in no file yet. `id` must be a UUIDv7. */
  make(event: NewDelivery, now: Date, id = uuidv7()): Delivery {
    const at = now.toISOString()
    const rest = { status: 'pending' as const, attempts: [], created_at: at, next_attempt_at: at }
    return { id, webhook_id: this.#webhookId, ...event, ...rest }
  }

  /** Keeps a new delivery; once this resolves it is on the disk. */
  async add(added: Delivery): Promise<void> {
    await deliveryFile.put(this.#documents, this.#pathOf(added.id), added)
  }

  /**
   * Keeps a delivery as it is now, for who has the lease to send them. A power cut may bring back what it was, and then it is attempted once
   * more.
   */
  change(lease: Lease, changed: Delivery): Promise<void> {
    return deliveryFile.put(lease, this.#pathOf(changed.id), changed, { mayBeLost: true })
  }

  forget(id: string): Promise<void> {
    return this.#documents.remove(this.#pathOf(id))
  }

  /** Those that match, by creation. */
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
    // The one that shows that there are more is not part of the window.
    return { rows: windowing?.limit === undefined ? found : found.slice(0, windowing.limit), next }
  }

  #pathOf(id: string): string {
    return `${this.#folder}/${id}.json`
  }
}

/** The milliseconds that a UUIDv7 begins with (RFC 9562, 5.7). */
function creationOf(id: string): string {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
}
