import { entriesOf, fromEntries, type Json, type JsonObject } from '../../json/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { type HandlerContext, StreamedOutputs } from '../handler.ts'
import { callPrompt } from './call-prompt.ts'
import type { PreparedPrompt } from './prepared-prompt.ts'

/**
 * Sends a prompt's messages and answers the reply while it is made (interface 12.5): `message_start`, a `message_delta` each time
 * text comes, `message_end`, `usage`, `done`. Resolves once the first text or the whole reply is there, so that until then the policies
 * of the prompt hold, and what fails has a status of its own. What fails later is thrown between pieces.
 */
export async function streamPrompt(
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
