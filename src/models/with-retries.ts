import { ModelFailure, type ModelFailureKind } from './models.ts'

/** Which failures of a call are reason to make it again (interface 11.20); each policy includes those before it. */
export const RETRY_POLICIES = ['off', 'availability', 'capacity', 'transient', 'any'] as const

/** When a call is made again. */
export type RetryPolicy = (typeof RETRY_POLICIES)[number]

/** When, how often and how soon a call is made again. */
export interface RetrySettings {
  readonly policy: RetryPolicy
  /** How often a call is made again, beside the first time. */
  readonly maxRetries: number
  /** Before the n-th time, counted from 0, this times 2ⁿ milliseconds pass. */
  readonly baseDelayMs: number
}

/**
 * Makes a call, and again as long as the policy allows it. `wait` resolves after so many milliseconds. Throws what the last call
 * threw; what is no `ModelFailure` at once.
 */
export async function withRetries<T>(
  call: () => Promise<T>,
  { policy, maxRetries, baseDelayMs }: RetrySettings,
  wait: (milliseconds: number) => Promise<void>,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await call()
    } catch (error) {
      if (retries >= maxRetries || !isWorthRetrying(error, policy)) throw error
      await wait(baseDelayMs * 2 ** retries)
    }
  }
}

function isWorthRetrying(error: unknown, policy: RetryPolicy): boolean {
  if (!(error instanceof ModelFailure)) return false
  // A provider's refusal of any other kind; nothing else changes by asking again.
  const needed = NEEDED[error.kind] ?? (error.upstreamStatus === undefined ? undefined : 'any')
  return needed !== undefined && RETRY_POLICIES.indexOf(policy) >= RETRY_POLICIES.indexOf(needed)
}

/** The first policy that takes a failure of this kind. */
const NEEDED: Readonly<Partial<Record<ModelFailureKind, RetryPolicy>>> = {
  availability: 'availability',
  capacity: 'capacity',
  transient: 'transient',
}
