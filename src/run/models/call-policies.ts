import { ModelFailure, type ModelFailureKind } from './models.ts'

/** Which failures of a call are reason to make it elsewhere (interface 11.20); each policy includes those before it. */
export const FALLBACK_POLICIES = ['off', 'availability', 'capacity', 'access', 'context', 'any'] as const

/** When a call is made elsewhere. */
export type FallbackPolicy = (typeof FALLBACK_POLICIES)[number]

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

/** What becomes of a call that fails: it is made again, and then elsewhere. */
export interface CallPolicies {
  readonly fallbackPolicy: FallbackPolicy
  readonly retries: RetrySettings
}

/**
 * Makes a call of the first place, again as long as the policies allow it, and then of the next. `wait` resolves after so many
 * milliseconds. Throws what the last call threw; what is no `ModelFailure` at once.
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

function isWorthMoving(error: unknown, policy: FallbackPolicy): boolean {
  const needed = error instanceof ModelFailure ? neededFor(error) : undefined
  return needed !== undefined && FALLBACK_POLICIES.indexOf(policy) >= FALLBACK_POLICIES.indexOf(needed)
}

/** The first policy that takes a failure; undefined for one that is the same everywhere. */
function neededFor({ kind, upstreamStatus }: ModelFailure): FallbackPolicy | undefined {
  if (kind === 'availability' || kind === 'capacity' || kind === 'access' || kind === 'context') return kind
  if (kind === 'credential') return 'access'
  return upstreamStatus === 400 || upstreamStatus === 404 || upstreamStatus === 422 ? 'any' : undefined
}
