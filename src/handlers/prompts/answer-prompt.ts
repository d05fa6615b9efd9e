import { type Json, type JsonObject, entriesOf, fromEntries } from '../../json/json.ts'
import type { ChatReply, ChatCall } from '../../models/models.ts'
import { type HandlerContext, type HandlerRequest, type HandlerResult, StreamedOutputs } from '../handler.ts'
import type { PreparedPrompt } from './prepared-prompt.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { withFallbacks } from '../../models/with-fallbacks.ts'
import { withRetries } from '../../models/with-retries.ts'

/**
 * Sends a prompt's messages and answers the outputs that `outputsOf` makes of the reply: whole, or piece by piece to those who want
 * that.
 */
export async function answerPrompt(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  request: HandlerRequest,
  context: HandlerContext,
  outputsOf: (reply: ChatReply) => Json,
): Promise<HandlerResult> {
  if (request.wantsStream) return streamPrompt(prompt, messages, context, outputsOf)
  return outputsOf(
    await callPrompt(prompt, messages, context, (call) => context.models.chat(call, context.span)),
  )
}

/**
 * Sends a prompt's messages and answers the reply while it is made (interface 12.5): `message_start`, a `message_delta` each time
 * text comes, `message_end`, `usage`, `done`. Resolves once the first text or the whole reply is there, so that until then the policies
 * of the prompt hold, and what fails has a status of its own. What fails later is thrown between pieces.
 */
async function streamPrompt(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  { models, span, signal }: HandlerContext,
  outputsOf: (reply: ChatReply) => Json,
): Promise<StreamedOutputs> {
  const begun = await callPrompt(prompt, messages, { signal }, async (call) => {
    const stream = models.streamChat(call, span)
    return { stream, first: await stream.next() }
  })
  let reply = NOTHING_YET
  const pieces = piecesOf(begun, (complete) => (reply = complete))
  return new StreamedOutputs(pieces, () => outputsOf(reply))
}

type ReplyStream = AsyncGenerator<string, ChatReply, undefined>

interface BegunStream {
  readonly stream: ReplyStream
  readonly first: IteratorResult<string, ChatReply>
}

const NOTHING_YET: ChatReply = {
  message: { role: 'assistant', content: '' },
  usage: { prompt: 0, completion: 0, total: 0 },
  finishReason: 'other',
}

async function* piecesOf(
  { stream, first }: BegunStream,
  complete: (reply: ChatReply) => void,
): AsyncGenerator<JsonObject, void, undefined> {
  try {
    yield { type: 'message_start', data: { role: 'assistant' } }
    let step = first
    for (; !step.done; step = await stream.next())
      yield { type: 'message_delta', data: { content: step.value } }
    const reply = step.value
    complete(reply)
    yield { type: 'message_end', data: endOf(reply) }
    yield { type: 'usage', data: { ...reply.usage } }
    yield { type: 'done', data: {} }
  } catch (error) {
    throw failureOfPrompt(error)
  } finally {
    // Whoever stops taking pieces ends the call; after its end this does nothing.
    await stream.return(NOTHING_YET)
  }
}

/** Why the reply ended, and what it holds that is no text. */
function endOf({ message, finishReason }: ChatReply): JsonObject {
  const others = entriesOf(message).filter(([key]) => key === 'refusal' || key === 'tool_calls')
  return fromEntries([['finish_reason', finishReason], ...others])
}

/**
 * Makes the call of a prompt, again and elsewhere as its policies say (interface 11.20). `make` is given the call of each
 * attempt. Throws the last `ModelFailure`.
 */
export function callPrompt<T>(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  { signal }: Pick<HandlerContext, 'signal'>,
  make: (call: ChatCall) => Promise<T>,
): Promise<T> {
  // When nobody waits any more the next attempt says so at once.
  const wait = (milliseconds: number): Promise<void> =>
    pause(milliseconds, undefined, { signal }).catch(() => undefined)
  return withFallbacks(prompt.configs, prompt.fallbackPolicy, (config) =>
    withRetries(() => make({ ...config, messages, signal }), prompt.retries, wait),
  )
}
