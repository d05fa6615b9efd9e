import { Refusal } from '../errors.ts'
import type { Delivery } from './delivery.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'

/** The delivery of this id, of whichever webhook. */
export function findDelivery({ shelf }: ProjectWebhooks, id: string): Delivery {
  for (const webhook of shelf.list()) {
    const found = shelf.deliveries(webhook.id).read(id)
    if (found) return found
  }
  throw new Refusal(
    'delivery_not_found',
    `There is no delivery with the id ${id}: the last 1,000 that are over are kept for a webhook, for 30 days.`,
  )
}
