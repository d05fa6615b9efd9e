import { z } from 'zod'

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
