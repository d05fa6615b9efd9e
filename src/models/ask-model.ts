import type { OpenSpan } from '../traces/recording/open-span.ts'
import { failedCall } from './replies/failed-call.ts'
import type { ModelSettings } from './model-settings.ts'
import { beginChatSpan, setProviderAttributes, setResponseAttributes } from './model-span.ts'
import type { ChatCall, ChatReply } from './models.ts'
import { parseModelName } from './parse-model-name.ts'
import { prepareCall } from './calls/prepare-call.ts'
import { modelEndpoint, type ModelEndpoint } from './model-endpoint.ts'
import { modelRefusalOf } from './replies/refusal-of.ts'
import { replyOf } from './replies/reply-of.ts'
import { timeLimit } from './time-limit.ts'

/** Calls a model once and answers its whole reply (`Models.chat`). */
export async function askModel(call: ChatCall, span: OpenSpan, settings: ModelSettings): Promise<ChatReply> {
  const placed = parseModelName(call.model)
  const child = beginChatSpan(span, call, placed)
  const limit = timeLimit(call.signal, settings.timeoutMs)
  let reached: ModelEndpoint | undefined
  try {
    reached = await modelEndpoint(call.model, placed, call.connection, settings)
    setProviderAttributes(child, reached)
    const { model, options } = await prepareCall(reached, call)
    const answer = await model.doGenerate({ ...options, abortSignal: limit.either })
    const reply = replyOf({ ...answer, refusal: modelRefusalOf(answer.response?.body) })
    setResponseAttributes(child, reply, { id: answer.response?.id, model: answer.response?.modelId })
    return reply
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    child.end()
  }
}
