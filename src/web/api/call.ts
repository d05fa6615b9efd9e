import type { Routes } from '#routes'
import { parseJson } from './json.ts'

/** A route of the public interface, as docs/api.md lists them. */
export type Route = keyof Routes

export type Answer<R extends Route> = Routes[R]['answer']

/** What a route is asked with: path parameters, query string, body; `text` or `form` in place of a body. */
export type Ask<R extends Route> = Optional<'path', Routes[R]['path']> &
  Optional<'query', Routes[R]['query']> & {
    readonly body?: Routes[R]['body']
    /** The body as JSON text, sent as it is: what JavaScript's numbers and key orders would change stays the same. */
    readonly text?: string
    readonly form?: FormData
  }

type Optional<K extends string, T> =
  Record<never, never> extends T ? { readonly [P in K]?: T } : { readonly [P in K]: T }

/** Where the interface is: `/api` never answers a page. */
const BASE = '/api'

/** Told of every answer 401: the session has ended. */
let onSignedOut: () => void = () => undefined

export function whenSignedOut(told: () => void): void {
  onSignedOut = told
}

/** Asks the server. Throws a `Problem` with the server's own sentence, or `Unreachable`. */
export async function call<R extends Route>(route: R, ask: Ask<R>, signal?: AbortSignal): Promise<Answer<R>> {
  const response = await send(route, ask, signal)
  const type = response.headers.get('Content-Type') ?? ''
  return (type.includes('json') ? parseJson(await response.text()) : await response.text()) as Answer<R>
}

/** The same, with the answer as the text that it is. */
export async function callText<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal?: AbortSignal,
): Promise<string> {
  return (await send(route, ask, signal)).text()
}

/** The address of a route, for a link or a download. */
export function addressOf<R extends Route>(route: R, ask: Ask<R>): string {
  const { path = {}, query = {} } = ask as {
    readonly path?: Readonly<Record<string, unknown>>
    readonly query?: Readonly<Record<string, unknown>>
  }
  const pattern = route.slice(route.indexOf(' ') + 1)
  const filled = pattern.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])).replaceAll('%2F', '/'),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value))
  }
  return `${BASE}${filled}${search.size > 0 ? `?${search}` : ''}`
}

/** Asks the server, and answers once it has begun to answer. Throws as `call` does. */
async function send<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal?: AbortSignal,
  accept = 'application/json, */*',
): Promise<Response> {
  const { body, text, form } = ask
  const init: RequestInit = { method: route.slice(0, route.indexOf(' ')), credentials: 'same-origin' }
  const headers: Record<string, string> = { Accept: accept }
  if (signal) init.signal = signal
  if (form) init.body = form
  else if (text !== undefined || body !== undefined) {
    init.body = text ?? JSON.stringify(body)
    headers['Content-Type'] = 'application/json'
  }
  init.headers = headers
  const response = await fetch(addressOf(route, ask), init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Unreachable()
  })
  if (response.ok) return response
  const document = (await response.json().catch(() => ({}))) as Record<string, unknown>
  // Who asks about the session itself sees the answer.
  throw route.includes(' /sessions')
    ? new Problem(response.status, document)
    : refused(response.status, document)
}

/** What to throw for an answer that is an error; takes note where the session has ended. */
export function refused(status: number, document: Readonly<Record<string, unknown>>): Problem {
  if (status === 401) onSignedOut()
  return new Problem(status, document)
}

/**
 * The records of an answer that comes piece by piece (NDJSON), each as its text. An answer in one piece is one record. Throws as `call`
 * does, before the first record and between two.
 */
export async function* callInPieces<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const response = await send(route, ask, signal, 'application/x-ndjson, application/json;q=0.5')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield line
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw new Unreachable()
  }
  if (rest.trim() !== '') yield rest
}

/** What the server refused, in its own words (RFC 9457). */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** Which fields are wrong, of a 422. */
  readonly errors: readonly FieldProblem[]
  /** The whole document: conflicts, missing approvals, near names. */
  readonly document: Readonly<Record<string, unknown>>

  constructor(status: number, document: Readonly<Record<string, unknown>>) {
    super(sentenceOf(status, document))
    this.name = 'Problem'
    this.status = status
    this.code = typeof document['code'] === 'string' ? document['code'] : 'unknown'
    this.errors = Array.isArray(document['errors']) ? (document['errors'] as FieldProblem[]) : []
    this.document = document
  }

  /** What is wrong with a field, by its name at any place of what was sent; undefined where nothing is said of it. */
  of(field: string): string | undefined {
    return this.errors.find(({ loc }) => loc.includes(field))?.msg
  }
}

export interface FieldProblem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type?: string
}

/**
 * The server could not be asked at all: it is down, or the network is. What is read is asked for until there is an answer; a write is not
 * repeated, since it may have happened.
 */
export class Unreachable extends Error {
  constructor() {
    super('The server does not answer. What you typed is kept: try again once the server is back.')
    this.name = 'Unreachable'
  }
}

/** A run that failed says why in its `status`. */
function sentenceOf(code: number, { detail, title, status }: Readonly<Record<string, unknown>>): string {
  if (typeof detail === 'string') return detail
  const ofRun = (status as { readonly message?: unknown } | null | undefined)?.message
  if (typeof ofRun === 'string') return ofRun
  return typeof title === 'string' ? title : `The server answered ${code}.`
}
