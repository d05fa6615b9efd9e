import type { Routes } from '#routes'
import { parseJson } from './json.ts'

/** A route of the public interface, as docs/api.md lists them. */
export type Route = keyof Routes

export type Answer<R extends Route> = Routes[R]['answer']

/** The path parameters, query string and body of a request; `text` or `form` in place of a body. */
export type Ask<R extends Route> = Optional<'path', Routes[R]['path']> &
  Optional<'query', Routes[R]['query']> & {
    readonly body?: Routes[R]['body']
    /** The body as JSON text, sent unchanged: JavaScript would change some numbers and the order of keys. */
    readonly text?: string
    readonly form?: FormData
    /** The same for every try of one write, so that a write whose answer was lost is done once (interface 2.25). */
    readonly idempotencyKey?: string
  }

type Optional<K extends string, T> =
  Record<never, never> extends T ? { readonly [P in K]?: T } : { readonly [P in K]: T }

/** The prefix of the interface: no page has an address below `/api`. */
const BASE = '/api'

/** Called on every 401: the session has ended. */
let onSignedOut: () => void = () => undefined

export function whenSignedOut(told: () => void): void {
  onSignedOut = told
}

/** Sends a request. Throws a `Problem` with the server's message, or `Unreachable`. */
export async function call<R extends Route>(route: R, ask: Ask<R>, signal?: AbortSignal): Promise<Answer<R>> {
  const response = await send(route, ask, signal)
  const type = response.headers.get('Content-Type') ?? ''
  return (type.includes('json') ? parseJson(await response.text()) : await response.text()) as Answer<R>
}

/** The same, with the answer as text. */
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

/** Sends a request; resolves when the answer begins. Throws as `call` does. */
async function send<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal?: AbortSignal,
  accept = 'application/json, */*',
): Promise<Response> {
  const { body, text, form, idempotencyKey } = ask
  const init: RequestInit = { method: route.slice(0, route.indexOf(' ')), credentials: 'same-origin' }
  const headers: Record<string, string> = { Accept: accept }
  if (signal) init.signal = signal
  if (form) init.body = form
  else if (text !== undefined || body !== undefined) {
    init.body = text ?? JSON.stringify(body)
    headers['Content-Type'] = 'application/json'
  }
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
  init.headers = headers
  const response = await fetch(addressOf(route, ask), init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Unreachable()
  })
  if (response.ok) return response
  const document = (await response.json().catch(() => ({}))) as Record<string, unknown>
  // A 401 of the session itself is shown by its caller.
  throw route.includes(' /sessions')
    ? new Problem(response.status, document)
    : refused(response.status, document)
}

/** The error to throw for an error answer. Reports the end of the session. */
export function refused(status: number, document: Readonly<Record<string, unknown>>): Problem {
  if (status === 401) onSignedOut()
  return new Problem(status, document)
}

/**
 * The records of a streamed answer (NDJSON), each as text. An answer that is not streamed is one record. Throws as `call` does, before the first
 * record or between two.
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

/** An error answer of the server (RFC 9457). */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** The fields that are wrong, of a 422. */
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

  /** The message about a field, found by its name at any level of the request; undefined if there is none. */
  of(field: string): string | undefined {
    return this.errors.find(({ loc }) => loc.includes(field))?.msg
  }
}

export interface FieldProblem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type?: string
}

/** The server is down, or the network is. Reads are retried until there is an answer; writes are not, since they may have happened. */
export class Unreachable extends Error {
  constructor() {
    super('The server does not answer. What you typed is kept: try again once the server is back.')
    this.name = 'Unreachable'
  }
}

/** A failed run has its message in `status`. */
function sentenceOf(code: number, { detail, title, status }: Readonly<Record<string, unknown>>): string {
  if (typeof detail === 'string') return detail
  const ofRun = (status as { readonly message?: unknown } | null | undefined)?.message
  if (typeof ofRun === 'string') return ofRun
  return typeof title === 'string' ? title : `The server answered ${code}.`
}
