import { OutgoingFailure, outgoingFailureOf } from './outgoing-failure.ts'
import type { OutgoingPolicy } from './outgoing-policy.ts'
import { outgoingUrlProblem } from './outgoing-url-problem.ts'
import { type BegunAnswer, sendRequest } from './send-request.ts'

/** A POST to a URL chosen by a user. */
export interface OutgoingPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** From resolving the name to the end of the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Only this much of the answer is read; then the connection is closed. */
  readonly maxAnswerBytes: number
  /** Whether a longer answer is a failure; otherwise its beginning is the answer. */
  readonly mustBeWhole?: boolean
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** The answer. Redirects are answered, not followed. */
export interface OutgoingAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Sends a POST if the policy allows it, on a new connection. Every address of the host is checked, and the connection goes to a checked one,
 * so a later change of the name has no effect. Throws `OutgoingFailure` without an answer in time.
 */
export async function postOutgoing(post: OutgoingPost, policy: OutgoingPolicy): Promise<OutgoingAnswer> {
  const problem = outgoingUrlProblem(post.url, policy)
  if (problem !== undefined) throw new OutgoingFailure(`The URL ${problem}.`, 'address')
  const timeout = AbortSignal.timeout(post.timeoutMs)
  const signal = post.signal ? AbortSignal.any([timeout, post.signal]) : timeout
  try {
    const { url, headers, body } = post
    const answer = await sendRequest({ url, method: 'POST', headers, body, signal }, policy)
    return { status: answer.response.statusCode ?? 0, text: await textOf(answer, post) }
  } catch (error) {
    if (timeout.aborted) throw new OutgoingFailure(`There was no answer within ${post.timeoutMs} ms.`)
    throw outgoingFailureOf(error)
  }
}

async function textOf(answer: BegunAnswer, post: OutgoingPost): Promise<string> {
  const { maxAnswerBytes, mustBeWhole } = post
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of answer.pieces) {
    pieces.push(piece)
    size += piece.length
    // Leaving the loop closes the connection.
    if (mustBeWhole && size > maxAnswerBytes)
      throw new OutgoingFailure(`The answer is longer than ${maxAnswerBytes} bytes.`, 'size')
    if (!mustBeWhole && size >= maxAnswerBytes) break
  }
  return Buffer.concat(pieces).subarray(0, maxAnswerBytes).toString('utf8')
}
