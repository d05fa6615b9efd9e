import { modelProblem, modelEndpoint, type ModelEndpoint, type ReachSettings } from './model-endpoint.ts'
import {
  type Models,
  type ChatCall,
  type ChatReply,
  type EmbeddingCall,
  ModelFailure,
  type TokenUsage,
} from './models.ts'
import type { OpenSpan } from '../traces/recording/open-span.ts'
import { failedCall } from './replies/failed-call.ts'
import { parseModelName, type ModelName } from './parse-model-name.ts'
import { prepareCall } from './calls/prepare-call.ts'
import { timeLimit } from './time-limit.ts'
import type { LanguageModel } from './language-model.ts'
import { fromEntries, type Json, type JsonObject, withoutKey } from '../json/json.ts'
import { chatRequest } from './calls/chat-request.ts'
import type { ModelProvider } from './model-providers.ts'

/**
 * The language models of a project, on the AI SDK: anthropic and gemini in their own protocols, every other provider in the
 * chat-completions protocol. No call is made twice: what to try again is for whoever calls (`withRetries`, `withFallbacks`).
 * Addresses that come with a credential of the project obey the policy; the configuration's may be private. No redirect is followed,
 * and no key appears in a span or a failure.
 */
export function createModels(settings: ModelSettings): Models {
  return {
    chat: (call, span) => askModel(call, span, settings),
    streamChat: (call, span) => streamModel(call, span, settings),
    embed: (call, span) => embedTexts(call, span, settings),
    problemOf: (call) => modelProblem(call, settings),
  }
}

/** Calls a model once and answers its whole reply (`Models.chat`). */
async function askModel(call: ChatCall, span: OpenSpan, settings: ModelSettings): Promise<ChatReply> {
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

/** Asks an embedding model for one vector a text (`Models.embed`); the span counts the tokens, not the numbers. */
async function embedTexts(
  call: EmbeddingCall,
  span: OpenSpan,
  settings: ModelSettings,
): Promise<readonly (readonly number[])[]> {
  const placed = parseModelName(call.model)
  const child = beginEmbeddingSpan(span, call, placed)
  const limit = timeLimit(call.signal, settings.timeoutMs)
  let reached: ModelEndpoint | undefined
  try {
    reached = await modelEndpoint(call.model, placed, undefined, settings)
    setProviderAttributes(child, reached)
    const model = await embeddingModel(reached)
    const asked = { values: [...call.texts], abortSignal: limit.either }
    const { embeddings, usage } = await model.doEmbed(asked)
    if (embeddings.length !== call.texts.length)
      throw new ModelFailure(
        'answer',
        `The model '${call.model}' answered ${embeddings.length} vectors for ${call.texts.length} texts.`,
      )
    const tokens = usage?.tokens ?? 0
    child
      .setTokens({ prompt: tokens, completion: 0, total: tokens })
      .setForeign('gen_ai.usage.input_tokens', tokens)
    return embeddings
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    child.end()
  }
}

async function embeddingModel({ provider, id, baseUrl: baseURL, apiKey, fetch }: ModelEndpoint) {
  if (provider.protocol === 'anthropic' || provider.protocol === 'mock')
    throw new ModelFailure(
      'request',
      `'${provider.name}' has no embedding models; name one of another provider.`,
    )
  if (provider.protocol === 'gemini') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createGoogleGenerativeAI({ baseURL, apiKey, fetch }).embeddingModel(id)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({ name: provider.name, baseURL, apiKey, fetch }).embeddingModel(id)
}

/**
 * Calls a model once and tells its reply while it is made (`Models.streamChat`). Whoever stops taking pieces ends the call; its span
 * then holds what was said until then.
 */
async function* streamModel(
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

type StreamResult = Awaited<ReturnType<LanguageModel['doStream']>>
type Part = StreamResult['stream'] extends ReadableStream<infer Each> ? Each : never
type ToolCall = Extract<Part, { type: 'tool-call' }>
type Finish = Extract<Part, { type: 'finish' }>

/** Puts an answer together of the pieces it comes in. */
class StreamGatherer {
  /** Which answer it is, once that is known. */
  facts: AnswerFacts = {}
  readonly #texts: string[] = []
  readonly #calls: ToolCall[] = []
  #refusal = ''
  #finish: Finish | undefined

  /** Takes the next part and answers the text it adds. Throws what the provider says went wrong. */
  take(part: Part): string {
    if (part.type === 'error') throw part.error
    if (part.type === 'response-metadata') this.facts = { id: part.id, model: part.modelId }
    if (part.type === 'raw') this.#refusal += modelRefusalOf(part.rawValue)
    if (part.type === 'tool-call') this.#calls.push(part)
    if (part.type === 'finish') this.#finish = part
    if (part.type !== 'text-delta') return ''
    this.#texts.push(part.delta)
    return part.delta
  }

  /** Whether nothing of an answer has come yet. */
  get isEmpty(): boolean {
    return this.#texts.length === 0 && this.#calls.length === 0 && this.#refusal === '' && !this.#finish
  }

  /** The whole answer, once there are no more parts. */
  answer(): SdkAnswer {
    if (!this.#finish)
      throw new ModelFailure('answer', 'The answer of the model ended before it was complete.')
    return this.soFar()
  }

  /** As much of the answer as has come. */
  soFar(): SdkAnswer {
    return {
      content: [{ type: 'text', text: this.#texts.join('') }, ...this.#calls],
      usage: this.#finish?.usage ?? UNKNOWN_USAGE,
      finishReason: this.#finish?.finishReason ?? { unified: 'other', raw: undefined },
      refusal: this.#refusal,
    }
  }
}

const UNKNOWN_USAGE: Finish['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

/** How models are called for one project. */
export interface ModelSettings extends ReachSettings {
  /** How long a call may take, from the first look at a name to the end of the answer, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * What a model said instead of an answer: `choices[0].message.refusal` of a body of the chat-completions protocol, or
 * `choices[0].delta.refusal` of a piece of one; '' in any other.
 */
function modelRefusalOf(body: unknown): string {
  const choices = memberOf(body, 'choices')
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const refusal = memberOf(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), 'refusal')
  return typeof refusal === 'string' ? refusal : ''
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // It was just seen to be there.
  return (value as Readonly<Record<string, unknown>>)[key]
}

type Result = Awaited<ReturnType<LanguageModel['doGenerate']>>

/** What the SDK tells of an answer, whole or gathered from pieces. */
interface SdkAnswer {
  readonly content: Result['content']
  readonly usage: Result['usage']
  readonly finishReason: Result['finishReason']
  /** What the model said instead of an answer; the SDK has no word for it. */
  readonly refusal: string
}

/**
 * A reply in the form of the chat-completions protocol, without what a provider adds. A reply that says nothing at all has the
 * content "".
 */
function replyOf({ content, usage, finishReason, refusal }: SdkAnswer): ChatReply {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = content.flatMap((part): JsonObject[] =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: part.input } }]
      : [],
  )
  const members: [string, Json][] = [['role', 'assistant']]
  if (text !== '' || (refusal === '' && calls.length === 0)) members.push(['content', text])
  if (refusal !== '') members.push(['refusal', refusal])
  if (calls.length > 0) members.push(['tool_calls', calls])
  return {
    message: fromEntries(members),
    usage: usageOf(usage),
    finishReason: finishReason.unified.replaceAll('-', '_'),
  }
}

function usageOf({ inputTokens, outputTokens, raw }: Result['usage']): TokenUsage {
  const prompt = inputTokens.total ?? 0
  const completion = outputTokens.total ?? 0
  const total = raw?.total_tokens
  return { prompt, completion, total: typeof total === 'number' ? total : prompt + completion }
}

/**
 * Begins the span of a chat call, with the attributes of OpenTelemetry's GenAI conventions (both names of the provider: collectors
 * know the older one or the newer one).
 */
function beginChatSpan(span: OpenSpan, call: ChatCall, placed: ModelName): OpenSpan {
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
function beginEmbeddingSpan(span: OpenSpan, call: EmbeddingCall, placed: ModelName): OpenSpan {
  const child = span.child('embeddings', 'embedding', 'SPAN_KIND_CLIENT')
  return beginSpan(child, 'embeddings', call.model, placed)
    .setData('inputs', { texts: call.texts })
    .setData('parameters', { model: call.model })
}

/** Puts into a span whom its call goes to, once that is known: a connection may be for somebody else than the name of the model says. */
function setProviderAttributes(span: OpenSpan, { provider, baseUrl }: ModelEndpoint): void {
  setProvider(span, provider)
  if (URL.canParse(baseUrl)) span.setForeign('server.address', new URL(baseUrl).hostname)
}

/** What is known of an answer beside the reply. */
interface AnswerFacts {
  readonly id?: string | undefined
  readonly model?: string | undefined
}

/** Puts the reply into its span. */
function setResponseAttributes(
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
