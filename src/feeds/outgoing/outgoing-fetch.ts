import type { IncomingMessage } from 'node:http'
import { OutgoingFailure, outgoingFailureOf } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import { outgoingUrlProblem } from './outgoing-url-problem.ts'
import { type BegunAnswer, sendRequest } from './send-request.ts'

/** Settings of the requests of an `outgoingFetch`. */
export interface OutgoingFetchSettings {
  readonly policy: OutgoingPolicy
  /** The maximum bytes of an answer; a longer one fails when it exceeds them. */
  readonly maxAnswerBytes: number
}

/**
 * A `fetch` for libraries that accept one. It requests only addresses that the policy allows, on a new connection to a checked address.
 * Redirects are answered, not followed. A request's body must be text; the answer is streamed as it arrives. Throws `OutgoingFailure`, also
 * while the answer is read, and the signal's reason once that is aborted.
 */
export function outgoingFetch({ policy, maxAnswerBytes }: OutgoingFetchSettings): typeof fetch {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    const problem = outgoingUrlProblem(url, policy)
    if (problem !== undefined) throw new OutgoingFailure(`The URL ${problem}.`, 'address')
    try {
      const sent = {
        url,
        method,
        // The answer is not decompressed here.
        headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
        body: typeof body === 'string' ? body : '',
        signal: signal ?? undefined,
      }
      return answerOf(await sendRequest(sent, policy), maxAnswerBytes, sent.signal)
    } catch (error) {
      throw whyEnded(error, signal)
    }
  }
}

function answerOf(answer: BegunAnswer, maxBytes: number, signal: AbortSignal | undefined): Response {
  const { response } = answer
  const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = response
  if (status < 200 || status > 599) throw unreadableStatus(response, status)
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  const init = { status, statusText, headers }
  if (!WITHOUT_BODY.has(status)) return new Response(bodyOf(answer, maxBytes, signal), init)
  response.resume()
  return new Response(null, init)
}

function unreadableStatus(response: IncomingMessage, status: number): OutgoingFailure {
  response.destroy()
  return new OutgoingFailure(`The answer has the status ${status}, which HTTP does not know.`)
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Not `ReadableStream.from`: cancelling that while it waits for a piece would first wait for the piece. */
function bodyOf(
  answer: BegunAnswer,
  maxBytes: number,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const pieces = piecesOf(answer, maxBytes, signal)
  return new ReadableStream({
    pull: async (controller) => {
      const step = await pieces.next()
      if (step.done) controller.close()
      else controller.enqueue(step.value)
    },
    cancel: () => void answer.response.destroy(),
  })
}

/** An error in the loop closes the connection. */
async function* piecesOf(
  answer: BegunAnswer,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  try {
    for await (const piece of answer.pieces) {
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
