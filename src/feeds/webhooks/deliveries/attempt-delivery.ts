import { createHmac, randomBytes } from 'node:crypto'
import { OutgoingFailure } from '../../outgoing/outgoing-failure.ts'
import { postOutgoing } from '../../outgoing/post-outgoing.ts'
import type { Attempt, Delivery } from './delivery-store.ts'
import type { WebhookSettings } from '../project-webhooks.ts'
import type { Webhook } from '../webhook.ts'

/** Bytes of a refusing receiver's answer that are shown. */
const ANSWER_BYTES = 500

/** Sends a delivery to its webhook once, signed as Standard Webhooks requires. Only a 2xx answer is a success. */
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

/** A new secret in the form of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64')}`
}

/** The signed parts of a message. */
export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The value of the header `webhook-signature` (https://www.standardwebhooks.com): a `v1` signature, HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`, with the secret, and one with the previous secret while that is valid.
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

/** Up to this part of a retry's pause is added at random, so that retries do not all come at once. */
const JITTER = 0.1

/** A delivery after an attempt: delivered, waiting for a later attempt, or failed permanently. */
export function afterAttempt(
  before: Delivery,
  attempt: Attempt,
  { retrySeconds, now }: Pick<WebhookSettings, 'retrySeconds' | 'now'>,
): Delivery {
  const { next_attempt_at: _, ...rest } = before
  const attempts = [...before.attempts, attempt]
  if (attempt.error === undefined) return { ...rest, attempts, status: 'delivered' }
  const pause = retrySeconds[before.attempts.length]
  if (pause === undefined || attempt.status_code === GONE) return { ...rest, attempts, status: 'failed' }
  const due = now().getTime() + pause * 1000 * (1 + JITTER * Math.random())
  return { ...rest, attempts, status: 'pending', next_attempt_at: new Date(due).toISOString() }
}

/** The answer of a receiver that wants no more events (RFC 9110, 15.5.11; Standard Webhooks requires it to be respected). */
export const GONE = 410
