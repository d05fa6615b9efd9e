import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { guardedLookup } from './guarded-lookup.ts'
import { OutgoingFailure, outgoingFailureOf } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import { outgoingUrlProblem } from './outgoing-url-problem.ts'

/** How the requests of an `outgoingFetch` are made. */
export interface OutgoingFetchSettings {
  readonly policy: OutgoingPolicy
  /** Largest answer that is read, in bytes; a longer one fails where it becomes too long. */
  readonly maxAnswerBytes: number
}

/**
 * A `fetch` for libraries that take one: it goes only where the policy allows, on a connection of its own to an address that was
 * checked. A redirect is an answer like any other: it is not followed. The body of a request has to be text; the answer comes as
 * it is sent, piece by piece. Throws `OutgoingFailure`, also while the answer is read; the signal's reason once that is aborted.
 */
export function outgoingFetch({ policy, maxAnswerBytes }: OutgoingFetchSettings): typeof fetch {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    const problem = outgoingUrlProblem(url, policy)
    if (problem !== undefined) throw new OutgoingFailure(`The URL ${problem}.`, 'address')
    try {
      const text = typeof body === 'string' ? body : ''
      const sent = {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        text,
        signal: signal ?? undefined,
      }
      return answerOf(await send(url, sent, policy), maxAnswerBytes, sent.signal)
    } catch (error) {
      throw whyEnded(error, signal)
    }
  }
}

interface SentRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly signal: AbortSignal | undefined
}

function send(url: string, sent: SentRequest, policy: OutgoingPolicy): Promise<IncomingMessage> {
  const { method, text, signal } = sent
  const start = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest
  // Nobody here would unpack a compressed answer.
  const headers = {
    ...sent.headers,
    'accept-encoding': 'identity',
    'content-length': String(Buffer.byteLength(text)),
  }
  return new Promise((resolve, reject) => {
    // No agent: a kept connection would be to an address that was checked for somebody else.
    start(url, {
      method,
      headers,
      agent: false,
      lookup: guardedLookup(policy),
      ...(signal ? { signal } : {}),
    })
      .on('response', resolve)
      .on('error', reject)
      .end(text)
  })
}

function answerOf(response: IncomingMessage, maxBytes: number, signal: AbortSignal | undefined): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = response
  if (status < 200 || status > 599) throw unreadableStatus(response, status)
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  const init = { status, statusText, headers }
  if (!WITHOUT_BODY.has(status))
    return new Response(ReadableStream.from(piecesOf(response, maxBytes, signal)), init)
  response.resume()
  return new Response(null, init)
}

function unreadableStatus(response: IncomingMessage, status: number): OutgoingFailure {
  response.destroy()
  return new OutgoingFailure(`The answer has the status ${status}, which HTTP does not know.`)
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Leaving the loop, or an error in it, closes the connection. */
async function* piecesOf(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > maxBytes) throw new OutgoingFailure(`The answer is longer than ${maxBytes} bytes.`, 'size')
      yield piece
    }
  } catch (error) {
    throw whyEnded(error, signal)
  }
}

function whyEnded(error: unknown, signal: AbortSignal | null | undefined): unknown {
  return signal?.aborted ? signal.reason : outgoingFailureOf(error)
}
