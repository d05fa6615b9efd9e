import { type IncomingMessage, request } from 'node:http'
import { KEY } from '../../../test/support/servers/child-server.ts'
import type { MonitoredServer } from '../bench-servers.ts'
import { progress } from '../progress.ts'
import { boundOf, isMet, type TurnRow } from './turn-row.ts'

/** A request to be measured. */
export interface TurnRequest {
  readonly method: string
  /** Of the document, with its parameters in braces. */
  readonly route: string
  readonly path: string
  readonly shape: string
  readonly body?: string | undefined
  readonly type?: string | undefined
}

export interface TurnAnswer {
  readonly status: number
  readonly text: string
}

/** Longer than this nobody waits for an answer, in milliseconds. */
const PATIENCE = 180_000

/** Sends requests, one at a time, and keeps a row for each. */
export class TurnClient {
  readonly rows: TurnRow[] = []
  /** The routes of which something was answered. */
  readonly asked = new Set<string>()
  readonly #server: MonitoredServer

  constructor(server: MonitoredServer) {
    this.#server = server
  }

  /** Sends it without keeping a row. */
  send(asked: TurnRequest): Promise<TurnAnswer> {
    return send(this.#server.url, asked)
  }

  /** Sends it, and keeps the row under a size. `bound` is by the bytes of the body unless it is given. */
  async measure(
    asked: TurnRequest,
    size: string,
    bound = boundOf(asked.body?.length ?? 0),
  ): Promise<TurnAnswer> {
    const { method, route, shape } = asked
    progress(`${this.rows.length} ${method} ${route} ${shape} ${size}`)
    const { answer, turns } = await this.#server.measured(() => this.send(asked))
    const row = { ...turns, route: `${method} ${route}`, shape, size, bound, status: answer.status }
    this.rows.push(row)
    this.asked.add(row.route)
    if (!isMet(row)) {
      progress('')
      process.stderr.write(
        `  ${Math.round(row.longest)} ms  ${row.route}  ${shape}  ${size}  ${row.status}\n`,
      )
    }
    return answer
  }
}

/** All that is answered is read, and what is longer than anything that is looked into is forgotten. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const read = chunk as Buffer // a response without an encoding set comes in buffers
    bytes += read.length
    if (bytes <= LONGEST_TEXT) chunks.push(read)
  }
  return bytes <= LONGEST_TEXT ? Buffer.concat(chunks).toString() : ''
}

const LONGEST_TEXT = 128 * 1024 * 1024

/** Any status is an answer; 0 is none. */
async function send(url: string, { method, path, body, type }: TurnRequest): Promise<TurnAnswer> {
  try {
    const sending = request(url + path, {
      method,
      headers: {
        authorization: `ApiKey ${KEY}`,
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      },
      signal: AbortSignal.timeout(PATIENCE),
    })
    const answered = new Promise<TurnAnswer>((resolve, reject) => {
      sending.on('error', reject)
      sending.on('response', (response) => {
        beginningOf(response).then(
          (read) => resolve({ status: response.statusCode ?? 0, text: read }),
          reject,
        )
      })
    })
    sending.end(body)
    return await answered
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}
