import { Refusal } from '../../errors.ts'
import type { WriteContext } from '../../versioning/write-context.ts'
import type { ProjectWebhooks } from '../project-webhooks.ts'
import { isSending } from '../webhook.ts'
import type { Delivery } from './delivery.ts'

/**
 * Has an event delivered again: a new delivery of the same message, with attempts of its own, that the process whose turn it is
 * sends within a second. Refuses it while the webhook is archived or switched off.
 */
export async function redeliver(
  project: ProjectWebhooks,
  id: string,
  { artifactId, attemptedAt }: WriteContext,
): Promise<Delivery> {
  const { shelf, settings } = project
  const { webhook_id: webhookId, event_id, event_type, body } = findDelivery(project, id)
  const box = shelf.deliveries(webhookId)
  const earlier = artifactId !== undefined && attemptedAt ? box.read(artifactId) : undefined
  if (earlier) return earlier
  if (!isSending(shelf.get(webhookId))) {
    throw new Refusal(
      'archived',
      `The webhook ${webhookId} is archived or switched off. Unarchive it, or PUT is_active: true, and try again.`,
    )
  }
  box.assertRoom()
  const again = box.make({ event_id, event_type, body, redelivery_of: id }, settings.now(), artifactId)
  await box.add(again)
  return again
}

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
