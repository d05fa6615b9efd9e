import type { OutgoingPolicy } from '../outgoing/outgoing-policy.ts'

/** What of the configuration, and of the process, webhooks depend on. */
export interface WebhookSettings {
  readonly policy: OutgoingPolicy
  /** How long an attempt may take. */
  readonly timeoutMs: number
  /** How long after each failed attempt the next one is made. */
  readonly retrySeconds: readonly number[]
  readonly now: () => Date
  /** Told what keeps events from being told or delivered, for the log. */
  readonly onTrouble: (error: unknown) => void
}
