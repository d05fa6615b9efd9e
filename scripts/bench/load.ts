import autocannon from 'autocannon'
import { KEY } from './child-server.ts'

/** One kind of request, sent again and again by a number of clients. */
export interface Load {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly clients: number
  readonly seconds: number
}

/** Requests answered a second. Throws if any was refused or failed: a figure with errors is none. */
export async function requestsPerSecond({
  url,
  method,
  body,
  headers,
  clients,
  seconds,
}: Load): Promise<number> {
  const started = performance.now()
  const result = await autocannon({
    url,
    method,
    ...(body === undefined ? {} : { body }),
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json', ...headers },
    connections: clients,
    duration: seconds,
  })
  const failed = result.errors + result.timeouts + result['5xx'] + result['4xx']
  if (failed > 0) throw new Error(`${failed} of the requests to ${url} failed`)
  const took = (performance.now() - started) / 1000
  return (result['2xx'] + result['3xx']) / Math.min(took, result.duration)
}

/** The middle value of several. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
