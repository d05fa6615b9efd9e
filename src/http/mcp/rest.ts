import { createServer, type IncomingHttpHeaders, request as send, type Server } from 'node:http'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  getKey,
  getPath,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  MOST_LEVELS,
  parseJson,
  stringifyJson,
} from '../../base/json.ts'
import type { Handle } from '../server/server.ts'

/** Sends a request with the caller's key, and answers what the server said, whatever it was. */
export type SendRequest = (
  method: 'GET' | 'POST',
  path: string,
  body: string | undefined,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly text: string }>

/** A refusal of the server, for the one who called a tool: the server's sentence, and what to do next. */
export class RestFailure extends Error {
  readonly status: number
  /** The code of the refusal (interface 3.3); a client can decide by it. */
  readonly code: string
  /** What the server answered. */
  readonly answer: JsonObject

  constructor(status: number, answer: JsonObject) {
    const code = String(getKey(answer, 'code') ?? 'internal_error')
    super([sentenceIn(answer) ?? `The server answered ${status}.`, nextStep(status, code)].join(' ').trim())
    this.status = status
    this.code = code
    this.answer = answer
  }
}

/** Of a 422 for clients of the existing service, `detail` is a list (interface 2.30); of a run, the sentence is in `status`. */
function sentenceIn(answer: JsonObject): string | undefined {
  const detail = getKey(answer, 'detail')
  if (typeof detail === 'string') return detail
  if (isJsonArray(detail)) return detail.map((it) => String(getPath(it, 'msg'))).join('; ')
  const message = getPath(answer, 'status', 'message') ?? getKey(answer, 'title')
  return typeof message === 'string' ? message : undefined
}

function nextStep(status: number, code: string): string {
  if (code === 'artifact_not_found') return 'prompts_search lists what there is, with its names.'
  if (code === 'variant_not_found' || code === 'revision_not_found')
    return 'prompts_log lists the versions of a variant, and prompts_search finds variants.'
  if (code === 'revision_conflict')
    return 'Somebody committed meanwhile: read it again with prompts_get, then commit again.'
  return status === 503 ? 'Wait a second before you call the tool again.' : ''
}

/** The REST interface, as the tools use it: exact JSON both ways, and a `RestFailure` for every answer that is not 200. */
export class Rest {
  readonly #send: SendRequest
  readonly #signal: AbortSignal

  constructor(send: SendRequest, signal: AbortSignal) {
    this.#send = send
    this.#signal = signal
  }

  get(path: string): Promise<JsonObject> {
    return this.#ask('GET', path)
  }

  post(path: string, body: Json): Promise<JsonObject> {
    return this.#ask('POST', path, stringifyJson(body))
  }

  async #ask(method: 'GET' | 'POST', path: string, body?: string): Promise<JsonObject> {
    const { status, text } = await this.#send(method, path, body, this.#signal)
    const answer = readAnswer(text)
    if (status === 200 && answer && !foundNothing(answer)) return answer
    throw new RestFailure(status, answer ?? { detail: `The server answered ${status} without JSON.` })
  }
}

/** Answers hold what was stored, and have some levels of their own around it. */
const STORED_JSON = { maxDepth: MOST_LEVELS + 20 }

function readAnswer(text: string): JsonObject | undefined {
  try {
    const answer = parseJson(text, STORED_JSON)
    return isJsonObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

/** Clients of the existing service are answered 200 and nothing else where nothing is found (interface 2.30). */
function foundNothing(answer: JsonObject): boolean {
  return getKey(answer, 'count') === 0 && keysOf(answer).length === 1
}

/** What says who asks. */
const FROM_CALLER = ['authorization', 'x-api-key', 'cookie', 'origin', 'sec-fetch-site', 'host'] as const

/**
 * Sends requests to this server from within it, over pipes of this process: through the same chain as every other request, so that keys,
 * scopes, limits and checks hold, but without the network and without counting as a second request that is being worked on.
 */
export class RequestsInside {
  readonly #server: Server

  constructor(handle: Handle) {
    // It never listens; `send` hands it connections.
    this.#server = createServer((request, response) => void handle(request, response))
  }

  /** Sends as the caller whose headers these are; the log shows what is sent under the same request id. */
  as(headers: IncomingHttpHeaders, requestId: string): SendRequest {
    const kept = FROM_CALLER.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
    const common = { ...Object.fromEntries(kept), 'x-request-id': requestId, connection: 'close' }
    return (method, path, body, signal) => {
      const [near, far] = duplexPair()
      // As a connection does: the other end learns that a client has gone, and the work for it ends.
      near.once('close', () => far.destroy())
      far.on('error', () => undefined)
      this.#server.emit('connection', far)
      const sent =
        body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      return new Promise((resolve, reject) => {
        const outgoing = send({
          method,
          path,
          headers: { ...common, ...sent },
          createConnection: () => near,
          signal,
        })
        outgoing.on('error', reject)
        outgoing.on('response', (response) => {
          const status = response.statusCode ?? 500 // always there in a response
          text(response)
            .then((said) => resolve({ status, text: said }), reject)
            .finally(() => near.destroy())
        })
        outgoing.end(body)
      })
    }
  }
}
