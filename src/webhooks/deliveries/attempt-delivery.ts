import { OutgoingFailure } from '../../outgoing/outgoing-failure.ts'
import { postOutgoing } from '../../outgoing/post-outgoing.ts'
import type { Attempt, Delivery } from './delivery.ts'
import type { Webhook } from '../webhook.ts'
import { signaturesOf } from '../webhook-secret.ts'
import type { WebhookSettings } from '../webhook-settings.ts'

/** So much of an answer is looked at, to show what a receiver that refuses has to say. */
const ANSWER_BYTES = 500

/** Sends a delivery to its webhook once, signed as Standard Webhooks says. An answer of 2xx is a success, no other is. */
export async function attemptDelivery(
  webhook: Webhook,
  { event_id: id, body }: Delivery,
  { policy, timeoutMs, now }: WebhookSettings,
  signal?: AbortSignal,
): Promise<Attempt> {
  const began = now()
  const timestamp = Math.floor(began.getTime() / 1000)
  const started = performance.now()
  const done = (rest: Partial<Attempt>): Attempt => ({
    at: began.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    ...rest,
  })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'branchpoint-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signaturesOf(webhook, { id, timestamp, body }),
  }
  const limits = { timeoutMs, maxAnswerBytes: ANSWER_BYTES, ...(signal ? { signal } : {}) }
  try {
    const { status, text } = await postOutgoing({ url: webhook.url, headers, body, ...limits }, policy)
    if (status >= 200 && status < 300) return done({ status_code: status })
    const said = text === '' ? '' : `: ${text}`
    return done({ status_code: status, error: `The receiver answered ${status}${said}` })
  } catch (error) {
    if (error instanceof OutgoingFailure) return done({ error: error.message })
    throw error
  }
}
