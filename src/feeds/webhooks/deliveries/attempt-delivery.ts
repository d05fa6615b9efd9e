import { createHmac, randomBytes } from 'node:crypto'
import { OutgoingFailure } from '../../outgoing/outgoing-failure.ts'
import { postOutgoing } from '../../outgoing/post-outgoing.ts'
import type { Attempt, Delivery } from './delivery-store.ts'
import type { WebhookSettings } from '../project-webhooks.ts'
import type { Webhook } from '../webhook.ts'

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

/** Retries are put off by up to this part of their pause more, so that they do not all come back at once. */
const JITTER = 0.1

/** What a delivery is after an attempt at it: delivered, to be tried again at a later time, or failed for good. */
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

/** What a receiver answers that wants nothing any more (RFC 9110, 15.5.11; Standard Webhooks asks to heed it). */
export const GONE = 410
