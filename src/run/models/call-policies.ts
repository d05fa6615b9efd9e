import { ModelFailure, type ModelFailureKind } from './models.ts'

/** The failures after which a call uses a fallback (interface 11.20); each policy includes the previous ones. */
export const FALLBACK_POLICIES = ['off', 'availability', 'capacity', 'access', 'context', 'any'] as const

/** When a call uses a fallback. */
export type FallbackPolicy = (typeof FALLBACK_POLICIES)[number]

/** The failures after which a call is retried (interface 11.20); each policy includes the previous ones. */
export const RETRY_POLICIES = ['off', 'availability', 'capacity', 'transient', 'any'] as const

/** When a call is retried. */
export type RetryPolicy = (typeof RETRY_POLICIES)[number]

/** When, how often and how soon a call is retried. */
export interface RetrySettings {
  readonly policy: RetryPolicy
  /** The number of retries after the first attempt. */
  readonly maxRetries: number
  /** Before the n-th retry, counted from 0, this many milliseconds times 2ⁿ pass. */
  readonly baseDelayMs: number
}

/** What happens after a failed call: retries, then fallbacks. */
export interface CallPolicies {
  readonly fallbackPolicy: FallbackPolicy
  readonly retries: RetrySettings
}

/**
 * Makes a call at the first place, with retries by the policies, then at the next places. `wait` resolves after the given milliseconds.
 * Throws the last call's error; rethrows an error that is not a `ModelFailure` at once.
 */
export async function callByPolicies<Place, T>(
  [first, ...others]: readonly [Place, ...Place[]],
  { fallbackPolicy, retries: { policy, maxRetries, baseDelayMs } }: CallPolicies,
  call: (place: Place) => Promise<T>,
  wait: (milliseconds: number) => Promise<void>,
): Promise<T> {
  const left = [...others]
  let place = first
  for (let retries = 0; ;) {
    try {
      return await call(place)
    } catch (error) {
      if (retries < maxRetries && isWorthRetrying(error, policy)) {
        await wait(baseDelayMs * 2 ** retries++)
        continue
      }
      const next = isWorthMoving(error, fallbackPolicy) ? left.shift() : undefined
      if (next === undefined) throw error
      place = next
      retries = 0
    }
  }
}

function isWorthRetrying(error: unknown, policy: RetryPolicy): boolean {
  if (!(error instanceof ModelFailure)) return false
  // Any other refusal of a provider; other failures would be the same in a retry.
  const needed = NEEDED[error.kind] ?? (error.upstreamStatus === undefined ? undefined : 'any')
  return needed !== undefined && RETRY_POLICIES.indexOf(policy) >= RETRY_POLICIES.indexOf(needed)
}

/** The first policy that covers a failure of this kind. */
const NEEDED: Readonly<Partial<Record<ModelFailureKind, RetryPolicy>>> = {
  availability: 'availability',
  capacity: 'capacity',
  transient: 'transient',
}

function isWorthMoving(error: unknown, policy: FallbackPolicy): boolean {
  const needed = error instanceof ModelFailure ? neededFor(error) : undefined
  return needed !== undefined && FALLBACK_POLICIES.indexOf(policy) >= FALLBACK_POLICIES.indexOf(needed)
}

/** The first policy that covers a failure; undefined for one that would be the same everywhere. */
function neededFor({ kind, upstreamStatus }: ModelFailure): FallbackPolicy | undefined {
  if (kind === 'availability' || kind === 'capacity' || kind === 'access' || kind === 'context') return kind
  if (kind === 'credential') return 'access'
  return upstreamStatus === 400 || upstreamStatus === 404 || upstreamStatus === 422 ? 'any' : undefined
}
