import { expect } from 'chai'
import { ModelFailure, type ModelFailureKind } from '../../../src/run/models/models.ts'
import {
  callByPolicies,
  FALLBACK_POLICIES,
  type FallbackPolicy,
  RETRY_POLICIES,
  type RetrySettings,
} from '../../../src/run/models/call-policies.ts'

/** Every failure a call can have: its kind, its status, and the first policy that retries it and that goes elsewhere. */
const FAILURES: readonly (readonly [ModelFailureKind, number | undefined, string, string])[] = [
  ['availability', undefined, 'availability', 'availability'],
  ['availability', 503, 'availability', 'availability'],
  ['capacity', 429, 'capacity', 'capacity'],
  ['transient', 409, 'transient', 'never'],
  ['transient', 423, 'transient', 'never'],
  ['access', 401, 'any', 'access'],
  ['access', 403, 'any', 'access'],
  ['credential', undefined, 'never', 'access'],
  ['context', 400, 'any', 'context'],
  ['context', 422, 'any', 'context'],
  ['request', 400, 'any', 'any'],
  ['request', 404, 'any', 'any'],
  ['request', 422, 'any', 'any'],
  ['request', 413, 'any', 'never'],
  ['request', undefined, 'never', 'never'],
  ['connection', undefined, 'never', 'never'],
  ['mismatch', undefined, 'never', 'never'],
  ['answer', undefined, 'never', 'never'],
]

const withRetries = <T>(
  call: () => Promise<T>,
  retries: RetrySettings,
  wait: (milliseconds: number) => Promise<void>,
): Promise<T> => callByPolicies(['here'], { fallbackPolicy: 'off', retries }, call, wait)

const withFallbacks = <T>(
  places: readonly [string, ...string[]],
  fallbackPolicy: FallbackPolicy,
  call: (place: string) => Promise<T>,
): Promise<T> => {
  const retries = { policy: 'off', maxRetries: 0, baseDelayMs: 100 } as const
  return callByPolicies(places, { fallbackPolicy, retries }, call, async () => undefined)
}

describe('models: retries and fallbacks', () => {
  // interface 11.20
  it('each retry policy takes its failures, and those of the policies before it', async () => {
    for (const [kind, status, retriedFrom] of FAILURES)
      for (const [strength, policy] of RETRY_POLICIES.entries()) {
        const needed = RETRY_POLICIES.findIndex((it) => it === retriedFrom)
        const failure = new ModelFailure(kind, 'x', status)
        let calls = 0
        const settings = { policy, maxRetries: 2, baseDelayMs: 100 }
        const call = () => {
          calls++
          return Promise.reject(failure)
        }
        const thrown: unknown = await withRetries(call, settings, async () => undefined).catch(
          (it: unknown) => it,
        )
        expect(thrown).to.equal(failure)
        expect(calls, `${kind} ${status} ${policy}`).to.equal(needed >= 0 && strength >= needed ? 3 : 1)
      }
  })

  it('waits twice as long each time, and answers what comes at last', async () => {
    const waits: number[] = []
    let calls = 0
    const call = async () => {
      if (++calls < 4) throw new ModelFailure('capacity', 'x', 429)
      return 'done'
    }
    const settings = { policy: 'capacity', maxRetries: 5, baseDelayMs: 100 } as const
    expect(await withRetries(call, settings, async (time) => void waits.push(time))).to.equal('done')
    expect(waits).to.deep.equal([100, 200, 400])
  })

  // interface 11.20
  it('each fallback policy takes its failures, and those of the policies before it', async () => {
    for (const [kind, status, , movedFrom] of FAILURES)
      for (const [strength, policy] of FALLBACK_POLICIES.entries()) {
        const needed = FALLBACK_POLICIES.findIndex((it) => it === movedFrom)
        const failure = new ModelFailure(kind, 'x', status)
        const asked: string[] = []
        const call = async (place: string) => {
          asked.push(place)
          if (place === 'a') throw failure
          return place
        }
        const answer: unknown = await withFallbacks(['a', 'b', 'c'], policy, call).catch((it: unknown) => it)
        const moves = needed >= 0 && strength >= needed
        expect(answer, `${kind} ${status} ${policy}`).to.equal(moves ? 'b' : failure)
        expect(asked).to.deep.equal(moves ? ['a', 'b'] : ['a'])
      }
  })

  it('the last place’s failure is the one that is thrown; what is no failure of a model stops at once', async () => {
    const fail = async (place: string) => {
      throw new ModelFailure('availability', place)
    }
    const last: unknown = await withFallbacks(['a', 'b'], 'any', fail).catch((it: unknown) => it)
    expect(last).to.have.property('message', 'b')
    const broken = new TypeError('a bug')
    let calls = 0
    const call = () => {
      calls++
      return Promise.reject(broken)
    }
    const settings = { policy: 'any', maxRetries: 5, baseDelayMs: 100 } as const
    const retried = () => withRetries(call, settings, async () => undefined)
    expect(await withFallbacks(['a', 'b'], 'any', retried).catch((it: unknown) => it)).to.equal(broken)
    expect(calls).to.equal(1)
  })
})
