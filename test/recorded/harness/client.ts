import { Agent, type IncomingMessage, request } from 'node:http'
import type { SentForm } from './scenario.ts'

/** An answer as it came. */
export interface RecordedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true, timeout: 3000 })

/** Sends a request with exactly these headers. */
export function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | undefined,
): Promise<RecordedAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': body.length }
    const sent = request(url, { method, agent, headers: { accept: '*/*', ...length, ...headers } })
    sent.on('response', (response) => {
      read(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes }),
        reject,
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const BOUNDARY = 'recorded-boundary'

export function isForm(body: unknown): body is SentForm {
  return typeof body === 'object' && body !== null && 'form' in body
}

/** The bytes of a body, and what they are. */
export function encoded(
  body: unknown,
  filled: (text: string) => string,
): { readonly bytes: Buffer | undefined; readonly type: string | undefined } {
  if (body === undefined) return { bytes: undefined, type: undefined }
  if (Buffer.isBuffer(body)) return { bytes: body, type: undefined }
  if (typeof body === 'string') return { bytes: Buffer.from(filled(body)), type: 'application/json' }
  if (!isForm(body)) return { bytes: Buffer.from(filled(JSON.stringify(body))), type: 'application/json' }
  const { form, file } = body
  const parts = Object.entries(form).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${filled(value)}\r\n`,
  )
  const chunks: Buffer[] = [Buffer.from(parts.join(''))]
  if (file) {
    const type = file.type ?? 'application/octet-stream'
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\ncontent-type: ${type}\r\n\r\n`
    const content = typeof file.content === 'string' ? Buffer.from(filled(file.content)) : file.content
    chunks.push(Buffer.from(head), content, Buffer.from('\r\n'))
  }
  chunks.push(Buffer.from(`--${BOUNDARY}--\r\n`))
  return { bytes: Buffer.concat(chunks), type: `multipart/form-data; boundary=${BOUNDARY}` }
}

/** What `GET /events` tells, as it comes. */
export class EventsReader {
  readonly told: string[] = []
  readonly #stop: () => void

  private constructor(stop: () => void) {
    this.#stop = stop
  }

  /** Resolves once the server has begun to tell. */
  static open(url: string, headers: Readonly<Record<string, string>>): Promise<EventsReader> {
    return new Promise((resolve, reject) => {
      const sent = request(`${url}/events`, {
        agent: false,
        headers: { accept: 'text/event-stream', ...headers },
      })
      const reader = new EventsReader(() => sent.destroy())
      let rest = ''
      sent.on('error', reject)
      sent.on('response', (response) => {
        response.setEncoding('utf8')
        response.on('error', () => undefined) // it is cut off at the end of the scenario
        response.on('data', (piece: string) => {
          rest += piece
          const parts = rest.split('\n\n')
          rest = parts.pop() ?? ''
          // An id may differ from run to run in length, and a pause has a comment.
          reader.told.push(...parts.filter((part) => /^data:/m.test(part)))
          resolve(reader)
        })
      })
      sent.end()
    })
  }

  close(): void {
    this.#stop()
  }
}
