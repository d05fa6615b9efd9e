import { KEY } from '../../../../test/support/servers/child-server.ts'
import type { IntervalTally } from '../interval-tally.ts'

/** A request of the load, and which statuses are right. */
export interface SoakRequest {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly path: string
  /** An object is sent as JSON, a text as it is. */
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** 200 unless others are named. */
  readonly expected?: readonly number[]
}

export interface SoakAnswer {
  readonly status: number
  readonly etag: string | undefined
  readonly text: string
}

/** Sends requests with the benchmarks' key, and tells the tally how long each took. */
export class SoakClient {
  readonly url: string
  readonly #tally: IntervalTally

  constructor(url: string, tally: IntervalTally) {
    this.url = url
    this.#tally = tally
  }

  /** The answer, read to its end. Throws a sentence if its status is none of the expected ones. */
  async send(request: SoakRequest): Promise<SoakAnswer> {
    const { method = 'POST', path, body, headers, expected = [200] } = request
    const began = performance.now()
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    this.#tally.answered(performance.now() - began)
    const { status } = response
    if (expected.includes(status)) return { status, etag: response.headers.get('etag') ?? undefined, text }
    throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`)
  }
}
