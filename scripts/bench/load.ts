import autocannon from 'autocannon'
import { KEY } from '../../test/support/servers/child-server.ts'

/** One kind of request, sent again and again by a number of clients. */
export interface Load {
  readonly url: string
  /** What is posted; of several, each client has its own. */
  readonly body: string | readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly clients: number
  readonly seconds: number
  /** What every answer has to be; 200 if absent. */
  readonly status?: number
}

/**
 * Requests answered a second. Throws if any was answered otherwise or not at all: a figure with errors is none. Where the time is
 * too short for a single answer, it takes longer.
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { url, body, headers, clients, seconds, status = 200 } = load
  const bodies = typeof body === 'string' ? [body] : body
  let client = 0
  const result = await autocannon({
    url,
    method: 'POST',
    setupClient: (one) => one.setBody(bodies[client++ % bodies.length]),
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json', ...headers },
    connections: clients,
    duration: seconds,
    // It ends only when it takes a sample.
    sampleInt: 100,
  })
  const { [`${status}` as const]: wanted, ...others } = result.statusCodeStats ?? {}
  const odd = Object.keys(others)
  if (odd.length > 0) throw new Error(`${url} answered ${odd.join(' and ')}, not ${status} alone`)
  if (result.errors > 0) throw new Error(`${result.errors} of the requests to ${url} were not answered`)
  return wanted?.count ? wanted.count / result.duration : requestsPerSecond({ ...load, seconds: 2 * seconds })
}

/** Milliseconds that a piece of work takes, ten times, or as often as it is done within two seconds. */
export async function timesOf(work: () => Promise<unknown>): Promise<number[]> {
  const began = performance.now()
  const times: number[] = []
  while (times.length === 0 || (times.length < 10 && performance.now() - began < 2000)) {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  return times
}
