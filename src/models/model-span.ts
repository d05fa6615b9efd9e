import { withoutKey } from '../json/json.ts'
import type { OpenSpan } from '../traces/recording/open-span.ts'
import { chatRequest } from './calls/chat-request.ts'
import type { ModelProvider } from './model-providers.ts'
import type { ChatCall, ChatReply, EmbeddingCall } from './models.ts'
import type { ModelName } from './parse-model-name.ts'
import type { ModelEndpoint } from './model-endpoint.ts'

/**
 * Begins the span of a chat call, with the attributes of OpenTelemetry's GenAI conventions (both names of the provider: collectors
 * know the older one or the newer one).
 */
export function beginChatSpan(span: OpenSpan, call: ChatCall, placed: ModelName): OpenSpan {
  const request = chatRequest(call)
  const child = beginSpan(span.child('chat', 'chat', 'SPAN_KIND_CLIENT'), 'chat', call.model, placed)
    .setData('inputs', { messages: call.messages })
    .setData('parameters', { model: call.model, ...withoutKey(request, 'messages') })
  for (const [name, value] of [
    ['temperature', call.temperature],
    ['max_tokens', call.maxTokens],
    ['top_p', call.topP],
    ['frequency_penalty', call.frequencyPenalty],
    ['presence_penalty', call.presencePenalty],
  ] as const)
    if (value !== undefined) child.setForeign(`gen_ai.request.${name}`, value)
  return child
}

/** Begins the span of an embedding call. */
export function beginEmbeddingSpan(span: OpenSpan, call: EmbeddingCall, placed: ModelName): OpenSpan {
  const child = span.child('embeddings', 'embedding', 'SPAN_KIND_CLIENT')
  return beginSpan(child, 'embeddings', call.model, placed)
    .setData('inputs', { texts: call.texts })
    .setData('parameters', { model: call.model })
}

/** Puts into a span whom its call goes to, once that is known: a connection may be for somebody else than the name of the model says. */
export function setProviderAttributes(span: OpenSpan, { provider, baseUrl }: ModelEndpoint): void {
  setProvider(span, provider)
  if (URL.canParse(baseUrl)) span.setForeign('server.address', new URL(baseUrl).hostname)
}

/** What is known of an answer beside the reply. */
export interface AnswerFacts {
  readonly id?: string | undefined
  readonly model?: string | undefined
}

/** Puts the reply into its span. */
export function setResponseAttributes(
  span: OpenSpan,
  { message, usage, finishReason }: ChatReply,
  facts: AnswerFacts,
): void {
  span
    .setData('outputs', message)
    .setTokens(usage)
    .setForeign('gen_ai.response.finish_reasons', [finishReason])
    .setForeign('gen_ai.usage.input_tokens', usage.prompt)
    .setForeign('gen_ai.usage.output_tokens', usage.completion)
  if (facts.id !== undefined) span.setForeign('gen_ai.response.id', facts.id)
  if (facts.model !== undefined) span.setForeign('gen_ai.response.model', facts.model)
}

function beginSpan(child: OpenSpan, operation: string, model: string, { provider }: ModelName): OpenSpan {
  child.setForeign('gen_ai.operation.name', operation).setForeign('gen_ai.request.model', model)
  return setProvider(child, provider)
}

function setProvider(span: OpenSpan, { conventionName }: ModelProvider): OpenSpan {
  return span.setForeign('gen_ai.system', conventionName).setForeign('gen_ai.provider.name', conventionName)
}
