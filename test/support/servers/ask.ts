import { Agent, type IncomingMessage, request } from 'node:http'

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Idle connections end before the server ends them, which a request could cross. */
const IDLE_MS = 3000

/** Sends requests over connections that are kept until the server ends them; what `fetch` does, at a third of the processor time. */
export class Asker {
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS })

  ask(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const sent = request(url, {
        method,
        agent: this.#agent,
        headers: { accept: '*/*', ...length, ...headers },
      })
      sent.on('response', (response) => read(response).then(resolve, reject))
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const headers = new Headers()
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    headers.append(response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '')
  }
  return { status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString() }
}
