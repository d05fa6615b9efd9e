import type { Metric, Registry } from 'prom-client'

const NAME = 'branchpoint_http_request_duration_seconds'
const HELP = 'Requests by method, route pattern and class of status, and how long they took.'

/** Seconds: a retrieve takes parts of a millisecond, an invocation may take minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/** How long requests of one kind took. */
interface Tally {
  readonly method: string
  readonly status: string
  /** By bucket, of each only those that no smaller one holds; the last is of those that none does. */
  readonly counts: number[]
  seconds: number
}

/**
 * The histogram of requests. Not prom-client's, which makes a text of all labels for each that it looks up: two microseconds, where a
 * retrieve takes thirty.
 */
export class RequestTimes {
  readonly name = NAME
  readonly #byRoute = new Map<string, Tally[]>()

  /** A registry's own; each call of `add` shows in it. */
  constructor(registry: Registry) {
    // Of a metric, a registry asks for its name and for `get`.
    registry.registerMetric(this as unknown as Metric)
  }

  add(method: string, route: string, status: string, seconds: number): void {
    const tally = this.#tallyOf(method, route, status)
    let bucket = 0
    while (seconds > (BUCKETS[bucket] ?? Infinity)) bucket++
    tally.counts[bucket] = (tally.counts[bucket] ?? 0) + 1
    tally.seconds += seconds
  }

  /** Everything so far, as a registry asks for it. */
  get(): { readonly name: string; readonly help: string; readonly type: string; readonly values: Value[] } {
    const values = [...this.#byRoute].flatMap(([route, tallies]) =>
      tallies.flatMap((tally) => valuesOf(route, tally)),
    )
    return { name: NAME, help: HELP, type: 'histogram', values }
  }

  #tallyOf(method: string, route: string, status: string): Tally {
    let tallies = this.#byRoute.get(route)
    if (!tallies) this.#byRoute.set(route, (tallies = []))
    let tally = tallies.find((it) => it.status === status && it.method === method)
    if (!tally)
      tallies.push((tally = { method, status, counts: [...BUCKETS, Infinity].map(() => 0), seconds: 0 }))
    return tally
  }
}

/** A line of the exposition format. */
interface Value {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** As prom-client has it: each bucket holds the smaller ones, too. */
function valuesOf(route: string, { method, status, counts, seconds }: Tally): Value[] {
  const labels = { method, route, status }
  let count = 0
  const buckets = counts.map((own, bucket) => {
    count += own
    return {
      metricName: `${NAME}_bucket`,
      labels: { le: BUCKETS[bucket] ?? '+Inf', ...labels },
      value: count,
    }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: seconds },
    { metricName: `${NAME}_count`, labels, value: count },
  ]
}
