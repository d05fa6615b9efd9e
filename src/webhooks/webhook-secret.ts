import { createHmac, randomBytes } from 'node:crypto'
import type { Webhook } from './webhook.ts'

/** A new secret as Standard Webhooks writes one: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64')}`
}

/** What a message of a webhook is signed with. */
export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The value of the header `webhook-signature`: a `v1` signature, HMAC-SHA256 of `<id>.<timestamp>.<body>`, for the secret, and
 * one for the secret before it while that is good (https://www.standardwebhooks.com).
 */
export function signaturesOf({ secret, previous_secret: previous }: Webhook, message: SignedMessage): string {
  const isGood = previous !== undefined && message.timestamp * 1000 < Date.parse(previous.until)
  const secrets = isGood ? [secret, previous.secret] : [secret]
  return secrets.map((it) => `v1,${signature(it, message)}`).join(' ')
}

const PREFIX = 'whsec_'

function signature(secret: string, { id, timestamp, body }: SignedMessage): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
}
