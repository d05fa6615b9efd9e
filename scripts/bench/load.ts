import autocannon from 'autocannon'
import { KEY } from './child-server.ts'

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

/** Requests answered a second. Throws if any was answered otherwise or not at all: a figure with errors is none. */
export async function requestsPerSecond({
  url,
  body,
  headers,
  clients,
  seconds,
  status = 200,
}: Load): Promise<number> {
  const bodies = typeof body === 'string' ? [body] : body
  let client = 0
  const started = performance.now()
  const result = await autocannon({
    url,
    method: 'POST',
    setupClient: (one) => one.setBody(bodies[client++ % bodies.length]),
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json', ...headers },
    connections: clients,
    duration: seconds,
  })
  const { [`${status}` as const]: wanted, ...others } = result.statusCodeStats ?? {}
  const odd = Object.keys(others)
  if (result.errors + result.timeouts > 0 || odd.length > 0 || !wanted?.count) {
    const answers = odd.length > 0 ? `; some were answered ${odd.join(' and ')} instead of ${status}` : ''
    throw new Error(`${result.errors + result.timeouts} of the requests to ${url} failed${answers}`)
  }
  const took = (performance.now() - started) / 1000
  return wanted.count / Math.min(took, result.duration)
}
