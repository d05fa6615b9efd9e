import type { OpenSpan } from '../traces/recording/open-span.ts'
import { failedCall } from './replies/failed-call.ts'
import type { ModelSettings } from './model-settings.ts'
import { beginChatSpan, setProviderAttributes, setResponseAttributes } from './model-span.ts'
import type { ChatCall, ChatReply } from './models.ts'
import { parseModelName } from './parse-model-name.ts'
import { prepareCall } from './calls/prepare-call.ts'
import { modelEndpoint, type ModelEndpoint } from './model-endpoint.ts'
import { replyOf } from './replies/reply-of.ts'
import { StreamGatherer } from './replies/stream-gatherer.ts'
import { timeLimit } from './time-limit.ts'

/**
 * Calls a model once and tells its reply while it is made (`Models.streamChat`). Whoever stops taking pieces ends the call; its span
 * then holds what was said until then.
 */
export async function* streamModel(
  call: ChatCall,
  span: OpenSpan,
  settings: ModelSettings,
): AsyncGenerator<string, ChatReply, undefined> {
  const placed = parseModelName(call.model)
  const child = beginChatSpan(span, call, placed)
  const limit = timeLimit(call.signal, settings.timeoutMs)
  const gatherer = new StreamGatherer()
  let reached: ModelEndpoint | undefined
  try {
    reached = await modelEndpoint(call.model, placed, call.connection, settings)
    setProviderAttributes(child, reached)
    const { model, options } = await prepareCall(reached, call)
    const asked = { ...options, includeRawChunks: true, abortSignal: limit.either }
    const { stream } = await model.doStream(asked)
    for await (const part of stream) {
      const piece = gatherer.take(part)
      if (piece !== '') yield piece
    }
    return replyOf(gatherer.answer())
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    if (!gatherer.isEmpty) setResponseAttributes(child, replyOf(gatherer.soFar()), gatherer.facts)
    child.end()
  }
}
