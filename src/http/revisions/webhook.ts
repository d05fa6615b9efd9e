import { JsonText } from '../../base/json.ts'
import type { Delivery, Webhook } from '../../feeds/webhooks.ts'

/** A webhook as a record; `withSecret` only for a new secret. */
export function presentWebhook(webhook: Webhook, { withSecret }: { readonly withSecret: boolean }): object {
  const { secret, previous_secret: _, ...record } = webhook
  return withSecret ? { ...record, secret } : record
}

/** A delivery as a record. */
export function presentDelivery({ body, ...record }: Delivery): object {
  return { ...record, payload: new JsonText(body) }
}
