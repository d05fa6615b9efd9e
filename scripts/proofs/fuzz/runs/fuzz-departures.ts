import fc from 'fast-check'
import { depart, type Departure } from '../depart.ts'
import { departingRequests } from '../departing-requests.ts'
import { startFuzzedService } from '../fuzzed-service.ts'
import { nothingHeld } from '../held-things.ts'
import { seedStore } from '../seed-store.ts'

export interface DepartureFuzz {
  readonly departures: number
  readonly seed: number
}

/** What came of it: how many left how, of which request, with an answer begun or not. */
export interface DepartureFinding {
  readonly outcomes: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/** So many clients come and go at once. */
const AT_ONCE = 32

/** So long it may take until the last thing is given back, in milliseconds. */
const GIVEN_BACK_WITHIN = 120_000

/**
 * Clients that leave at random: somewhere in their request, right after it, or with some of the answer read. Nothing may stay behind, and a
 * whole exchange of each kind must be answered as before.
 */
export async function fuzzDepartures({ departures, seed }: DepartureFuzz): Promise<DepartureFinding> {
  const service = await startFuzzedService()
  const outcomes = new Map<string, number>()
  const problems: string[] = []
  const onCrash = (error: unknown): void =>
    void problems.push(`not caught: ${error instanceof Error ? error.stack : String(error)}`)
  process.on('uncaughtException', onCrash).on('unhandledRejection', onCrash)
  const key = (service.keys.admin ?? '').replace('ApiKey ', '')
  try {
    await seedStore(service, () => undefined)
    const requests = await departingRequests(service.url, key)
    const samples = fc.sample(arbitraryDeparture(requests.length), { numRuns: departures, seed })
    const next = samples.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const { of, at, ...rest } of next) {
          const request = requests[of]
          if (!request) continue
          const sent = at > 1 ? request.bytes.length : Math.floor(at * request.bytes.length)
          const isAnswered = await depart(service.url, request.bytes, { ...rest, sent })
          const outcome = `${request.name}, ${sent < request.bytes.length ? 'cut off' : 'whole'}, ${isAnswered ? 'answered' : 'not answered'}`
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        }
      }),
    )
    await nothingHeld(service.url, key, service.storeDir, AbortSignal.timeout(GIVEN_BACK_WITHIN))
    for (const { name, bytes } of requests) {
      const isAnswered = await depart(service.url, bytes, { sent: bytes.length, read: 1, manner: 'close' })
      if (!isAnswered) problems.push(`${name} is not answered any more`)
    }
    problems.push(...service.takeErrors())
  } catch (error) {
    problems.push(String(error))
  } finally {
    await service.stop()
    process.off('uncaughtException', onCrash).off('unhandledRejection', onCrash)
  }
  return { outcomes, problems }
}

/** `at` past 1 means that all of it is sent. */
function arbitraryDeparture(
  requests: number,
): fc.Arbitrary<Omit<Departure, 'sent'> & { readonly of: number; readonly at: number }> {
  return fc.record({
    of: fc.nat({ max: requests - 1 }),
    at: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(2), fc.constant(2)),
    read: fc.oneof(fc.constant(0), fc.constant(0), fc.nat({ max: 2000 })),
    manner: fc.constantFrom('close', 'reset', 'half'),
  })
}
