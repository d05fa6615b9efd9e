import type { Attempt, Delivery } from './delivery.ts'
import type { WebhookSettings } from '../webhook-settings.ts'

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
