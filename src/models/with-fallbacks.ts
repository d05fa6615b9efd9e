import { ModelFailure } from './models.ts'

/** Which failures of a call are reason to make it elsewhere (interface 11.20); each policy includes those before it. */
export const FALLBACK_POLICIES = ['off', 'availability', 'capacity', 'access', 'context', 'any'] as const

/** When a call is made elsewhere. */
export type FallbackPolicy = (typeof FALLBACK_POLICIES)[number]

/**
 * Makes a call of the first place, and of the next as long as the policy allows it. Throws what the last call threw; what is no
 * `ModelFailure` at once.
 */
export async function withFallbacks<Place, T>(
  [first, ...others]: readonly [Place, ...Place[]],
  policy: FallbackPolicy,
  call: (place: Place) => Promise<T>,
): Promise<T> {
  const left = [...others]
  for (let place = first; ;) {
    try {
      return await call(place)
    } catch (error) {
      const next = isWorthMoving(error, policy) ? left.shift() : undefined
      if (next === undefined) throw error
      place = next
    }
  }
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
