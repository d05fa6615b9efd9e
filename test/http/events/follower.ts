import { type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { ADMIN_KEY } from '../../support/servers/service.ts'

/** An event as it was told. */
export interface Told {
  readonly id: string
  readonly event: string
  readonly data: any // tests look into it freely
}

/** Somebody who follows `GET /events`, as an EventSource does (WHATWG HTML 9.2.6). */
export class TestFollower {
  readonly events: Told[] = []
  readonly response: IncomingMessage
  /** What was sent so far. */
  text = ''
  /** Of the last event, or of where it began. */
  lastId = ''
  isEnded = false
  #rest = ''

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (piece: string) => this.#read(piece))
    for (const end of ['end', 'close', 'error'] as const) response.on(end, () => (this.isEnded = true))
  }

  /** Follows with these headers, the admin key unless there is a cookie; resolves once it is in, or refused. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<TestFollower> {
    const key = 'cookie' in headers ? {} : { authorization: `ApiKey ${ADMIN_KEY}` }
    const sent = request(`${url}/events`, { headers: { accept: 'text/event-stream', ...key, ...headers } })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const follower = new TestFollower(response)
    if (response.statusCode === 200) await follower.until(() => follower.lastId !== '')
    return follower
  }

  /** Resolves once that is so; fails after ten seconds with what was told. */
  async until(isSo: () => boolean): Promise<void> {
    for (let left = 2000; !isSo(); left--) {
      if (left === 0) throw new Error(`it did not come; what was told: ${this.text}`)
      await pause(5)
    }
  }

  /** The first event that fits, once it has come. */
  async find(fits: (told: Told) => boolean): Promise<Told> {
    await this.until(() => this.events.some(fits))
    return this.events.find(fits) as Told // the line above has waited for it
  }

  close(): void {
    this.response.destroy()
  }

  #read(piece: string): void {
    this.text += piece
    const blocks = (this.#rest + piece).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(
        block
          .split('\n')
          .filter((line) => !line.startsWith(':'))
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      this.lastId = fields.get('id') ?? this.lastId
      const data = fields.get('data')
      if (data === undefined) continue
      this.events.push({ id: this.lastId, event: fields.get('event') ?? 'message', data: JSON.parse(data) })
    }
  }
}
