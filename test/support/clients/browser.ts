import { Asker } from '../servers/ask.ts'

/** An answer, its body parsed where it is JSON. */
interface Reply {
  readonly status: number
  readonly headers: Headers
  // Tests look into answers freely.
  readonly body: any
}

/** A browser as far as sessions go: it keeps one cookie, sends it with each request, and says which page sent it. */
export class Browser {
  readonly #asker = new Asker()
  readonly #url: string
  /** The cookie as it is sent, `name=value`; undefined where it has none. */
  cookie: string | undefined
  /** The whole Set-Cookie header of the last answer that had one. */
  setCookie = ''

  constructor(url: string, cookie?: string) {
    this.#url = url
    this.cookie = cookie
  }

  /** Sends a request from a page of the server, unless headers say otherwise; an empty one is left out. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const all = {
      'content-type': 'application/json',
      cookie: this.cookie ?? '',
      origin: method === 'GET' ? '' : this.#url,
      ...headers,
    }
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const reply = await this.#asker.ask(method, this.#url + path, sent, text)
    const [given] = reply.headers.getSetCookie()
    if (given !== undefined) {
      this.setCookie = given
      const [pair = ''] = given.split(';')
      this.cookie = /Max-Age=0(?:;|$)/.test(given) ? undefined : pair
    }
    const isJson = /json/.test(reply.headers.get('content-type') ?? '')
    return { ...reply, body: isJson ? JSON.parse(reply.text) : undefined }
  }

  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.call('GET', path, undefined, headers)
  }

  post(path: string, body: unknown = {}, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.call('POST', path, body, headers)
  }

  signIn(key: string, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.post('/sessions', { session: { key } }, headers)
  }
}
