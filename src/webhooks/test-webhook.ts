import { v4 as uuidv4 } from 'uuid'
import { afterAttempt } from './deliveries/retry-schedule.ts'
import { attemptDelivery } from './deliveries/attempt-delivery.ts'
import type { Delivery } from './deliveries/delivery.ts'
import { TEST_EVENT } from './event-types.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'

/** Sends a webhook an event of the type `webhook.test`, once, and answers what came of it. */
export async function testWebhook({ shelf, settings }: ProjectWebhooks, id: string): Promise<Delivery> {
  const webhook = shelf.get(id)
  const box = shelf.deliveries(id)
  box.assertRoom()
  const timestamp = settings.now().toISOString()
  const body = JSON.stringify({ type: TEST_EVENT, timestamp, data: { webhook_id: id } })
  const made = box.make({ event_id: uuidv4(), event_type: TEST_EVENT, body }, settings.now())
  const attempt = await attemptDelivery(webhook, made, settings)
  const tested = afterAttempt(made, attempt, { ...settings, retrySeconds: [] })
  await box.add(tested)
  return tested
}
