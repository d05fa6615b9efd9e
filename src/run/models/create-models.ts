import { boundedText, fromEntries, type Json, type JsonObject, withoutKey } from '../../base/json.ts'
import {
  modelEndpoint,
  type ModelEndpoint,
  type ModelName,
  modelProblem,
  type ModelProvider,
  parseModelName,
  type ReachSettings,
} from './model-endpoint.ts'
import {
  type ChatCall,
  type ChatReply,
  type EmbeddingCall,
  ModelFailure,
  type ModelFailureKind,
  type Models,
} from './models.ts'
import { costsOf, type ModelPrice, priceOf } from './model-prices.ts'
import { chatRequest, type LanguageModel, prepareCall } from './prepare-call.ts'
import { OutgoingFailure } from '../../feeds/outgoing.ts'
import type { ModelUsage, OpenSpan } from '../../feeds/traces.ts'

/**
 * The language models of a project, on the AI SDK: anthropic and gemini in their own protocols, all other providers in the chat-completions
 * protocol. It does not retry; callers do (`withRetries`, `withFallbacks`). An address from a credential of the project must follow the
 * policy; an address from the configuration may be private. Redirects are not followed, and no key appears in a span or a failure.
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
    const reply = replyOf(priceOf(call.model, placed, reached), {
      ...answer,
      refusal: modelRefusalOf(answer.response?.body),
    })
    setResponseAttributes(child, reply, { id: answer.response?.id, model: answer.response?.modelId })
    return reply
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    child.end()
  }
}

/** Requests one vector per text from an embedding model (`Models.embed`); the span counts the tokens, not the numbers. */
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
      .setUsage({ tokens: { prompt: tokens, completion: 0, total: tokens } })
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

/** Calls a model once and streams its reply (`Models.streamChat`). If the reader stops, the call ends, and its span has the text so far. */
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
    return replyOf(priceOf(call.model, placed, reached), gatherer.answer())
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    if (!gatherer.isEmpty) {
      const price = reached && priceOf(call.model, placed, reached)
      setResponseAttributes(child, replyOf(price, gatherer.soFar()), gatherer.facts)
    }
    child.end()
  }
}

type StreamResult = Awaited<ReturnType<LanguageModel['doStream']>>
type Part = StreamResult['stream'] extends ReadableStream<infer Each> ? Each : never
type ToolCall = Extract<Part, { type: 'tool-call' }>
type Finish = Extract<Part, { type: 'finish' }>

/** Joins the pieces of an answer. */
class StreamGatherer {
  /** The answer's id and model, once they are known. */
  facts: AnswerFacts = {}
  readonly #texts: string[] = []
  readonly #calls: ToolCall[] = []
  #refusal = ''
  #finish: Finish | undefined

  /** Adds the next part and answers its text. Throws an error that the provider reports. */
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

  /** Whether no piece of an answer has arrived. */
  get isEmpty(): boolean {
    return this.#texts.length === 0 && this.#calls.length === 0 && this.#refusal === '' && !this.#finish
  }

  /** The whole answer, after the last part. */
  answer(): SdkAnswer {
    if (!this.#finish)
      throw new ModelFailure('answer', 'The answer of the model ended before it was complete.')
    return this.soFar()
  }

  /** The answer so far. */
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

/** The settings of model calls for one project. */
export interface ModelSettings extends ReachSettings {
  /** The time limit of a call in milliseconds, from resolving the name to the end of the answer. */
  readonly timeoutMs: number
}

/**
 * The model's refusal: `choices[0].message.refusal` in a body of the chat-completions protocol, or `choices[0].delta.refusal` in a piece of
 * one; '' for others.
 */
function modelRefusalOf(body: unknown): string {
  const choices = memberOf(body, 'choices')
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const refusal = memberOf(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), 'refusal')
  return typeof refusal === 'string' ? refusal : ''
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // The check above found this key.
  return (value as Readonly<Record<string, unknown>>)[key]
}

type Result = Awaited<ReturnType<LanguageModel['doGenerate']>>

/** The SDK's data of an answer, whole or joined from pieces. */
interface SdkAnswer {
  readonly content: Result['content']
  readonly usage: Result['usage']
  readonly finishReason: Result['finishReason']
  /** The model's refusal, which the SDK does not have. */
  readonly refusal: string
}

/** A reply in the chat-completions format, without the provider's own fields. An empty reply has the content "". */
function replyOf(
  price: ModelPrice | undefined,
  { content, usage, finishReason, refusal }: SdkAnswer,
): ChatReply {
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
    usage: usageOf(price, usage),
    finishReason: finishReason.unified.replaceAll('-', '_'),
  }
}

function usageOf(
  price: ModelPrice | undefined,
  { inputTokens, outputTokens, raw }: Result['usage'],
): ModelUsage {
  const prompt = inputTokens.total ?? 0
  const completion = outputTokens.total ?? 0
  const all = raw?.total_tokens
  const tokens = { prompt, completion, total: typeof all === 'number' ? all : prompt + completion }
  return { tokens, costs: price && costsOf(price, tokens) }
}

/**
 * Begins the span of a chat call, with the attributes of OpenTelemetry's GenAI conventions (the older and the newer name of the provider,
 * because collectors know only one).
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

/** Records in a span which provider is asked. The name of the model does not tell it, because a connection may lead to another provider. */
function setProviderAttributes(span: OpenSpan, { provider, baseUrl }: ModelEndpoint): void {
  setProvider(span, provider)
  if (URL.canParse(baseUrl)) span.setForeign('server.address', new URL(baseUrl).hostname)
}

/** Facts about an answer beside the reply. */
interface AnswerFacts {
  readonly id?: string | undefined
  readonly model?: string | undefined
}

/** Adds the reply to its span. */
function setResponseAttributes(
  span: OpenSpan,
  { message, usage, finishReason }: ChatReply,
  facts: AnswerFacts,
): void {
  span
    .setData('outputs', message)
    .setUsage(usage)
    .setForeign('gen_ai.response.finish_reasons', [finishReason])
    .setForeign('gen_ai.usage.input_tokens', usage.tokens.prompt)
    .setForeign('gen_ai.usage.output_tokens', usage.tokens.completion)
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

/** What ends a call: the client is gone, or the time is over. */
export interface TimeLimit {
  /** The caller's signal. */
  readonly signal: AbortSignal
  readonly timeout: AbortSignal
  readonly timeoutMs: number
  /** Aborted by the caller or by the time limit. */
  readonly either: AbortSignal
}

/** Starts the time limit of a call. */
export function timeLimit(signal: AbortSignal, timeoutMs: number): TimeLimit {
  const timeout = AbortSignal.timeout(timeoutMs)
  return { signal, timeout, timeoutMs, either: AbortSignal.any([signal, timeout]) }
}

/** A failed call, possibly before its provider was known. */
export interface UnfinishedCall extends Omit<FailedCall, 'reached'> {
  readonly reached: ModelEndpoint | undefined
}

/**
 * The error to throw for a failed call: a `ModelFailure`, or the original error if the source of credentials threw it. Records it in the
 * call's span.
 */
export function failedCall(span: OpenSpan, error: unknown, { reached, ...call }: UnfinishedCall): unknown {
  const failure = reached ? modelFailureOf(error, { ...call, reached }) : error
  if (failure instanceof ModelFailure) {
    const { kind, message, upstreamStatus } = failure
    span
      .fail({ type: failure.name, message, stacktrace: undefined })
      .setForeign('error.type', upstreamStatus === undefined ? kind : String(upstreamStatus))
    return failure
  }
  const message = `The credential for the model '${call.model}' could not be read.`
  span.fail({ type: 'Error', message, stacktrace: undefined }).setForeign('error.type', '_OTHER')
  return failure
}

/** The call that failed. */
interface FailedCall {
  readonly model: string
  /** The provider and key of the call. The key is removed from every message, because some providers repeat it. */
  readonly reached: Pick<ModelEndpoint, 'provider' | 'apiKey'>
  readonly limit: TimeLimit
}

/**
 * Why a call failed, by the SDK's, the connection's or the time limit's error (interface 11.20). The message quotes at most 1000 characters
 * of the provider, without the key.
 */
function modelFailureOf(error: unknown, { model, reached, limit }: FailedCall): ModelFailure {
  if (error instanceof ModelFailure) return error
  const hideKey = (text: string): string => hidden(text, reached.apiKey)
  const fail = (kind: ModelFailureKind, sentence: string, status?: number): ModelFailure =>
    new ModelFailure(kind, `The model '${model}' of '${reached.provider.name}' ${hideKey(sentence)}`, status)
  const said = boundedText(hideKey(messageOf(error)), 1000)
  // The client is gone: no retry, no fallback.
  if (limit.signal.aborted) return fail('request', 'was not waited for: the request ended before the answer.')
  if (limit.timeout.aborted) return fail('availability', `did not answer within ${limit.timeoutMs} ms.`)
  const outgoing = causesOf(error).find((it) => it instanceof OutgoingFailure)
  if (outgoing) return fail(OUTGOING_KINDS[outgoing.kind], `gave no answer. ${outgoing.message}`)
  if (isAnnounced(error)) return fail(announcedKind(error, said), `failed while it answered: ${said}`)
  const status = statusOf(error)
  if (status === undefined || status < 300)
    return fail('answer', `gave an answer that cannot be read: ${said}`)
  if (status >= 400) return fail(kindOf(status, said), `did not answer: ${said}${waitOf(error)}`, status)
  return fail(
    'request',
    'answered with a redirect, which is not followed; set the base URL it leads to.',
    status,
  )
}

/** A text without a key that it may repeat. */
export function hidden(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '***')
}

const OUTGOING_KINDS = { address: 'request', network: 'availability', size: 'answer' } as const

/** An error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let it = error; it instanceof Error && !causes.includes(it); it = it.cause) causes.push(it)
  return causes
}

/** The HTTP status in an `APICallError` of the SDK. */
function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** Whether the provider reported an error within its answer: such an error is data, not a thrown Error. */
function isAnnounced(error: unknown): error is object {
  return typeof error === 'object' && error !== null && !(error instanceof Error)
}

function announcedKind(error: object, said: string): ModelFailureKind {
  const code = 'code' in error ? Number(error.code) : NaN
  return code >= 400 && code <= 599 ? kindOf(code, said) : 'availability'
}

function kindOf(status: number, said: string): ModelFailureKind {
  if (status === 408 || status >= 500) return 'availability'
  if (status === 429) return 'capacity'
  if (status === 409 || status === 423) return 'transient'
  if (status === 401 || status === 403) return 'access'
  if ((status === 400 || status === 422) && TOO_LONG.test(said)) return 'context'
  return 'request'
}

/** Messages of common providers about a prompt that is too long. */
const TOO_LONG =
  /context[ _-]?(?:length|window|size)|maximum context|token limit|too many tokens|(?:prompt|input) is too long|input token count|maximum number of (?:input )?tokens/i

/** The time that the provider asks to wait before the next call. */
function waitOf(error: unknown): string {
  const headers = error instanceof Error && 'responseHeaders' in error ? error.responseHeaders : undefined
  const after =
    typeof headers === 'object' && headers !== null && 'retry-after' in headers ? headers['retry-after'] : ''
  return /^[0-9]{1,6}$/.test(String(after)) ? ` It asks to wait ${String(after)} s.` : ''
}

/** The provider's error message as a sentence: from the usual places in its body, else the SDK's message. */
function messageOf(error: unknown): string {
  const text = messageIn(bodyOf(error)) ?? messageIn(error) ?? 'it did not say why'
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** The body in an `APICallError` of the SDK. */
function bodyOf(error: unknown): unknown {
  const body = error instanceof Error && 'responseBody' in error ? error.responseBody : undefined
  // A successful body is not an error message; then the error itself has the reason.
  const isComplaint = error instanceof Error && 'statusCode' in error && Number(error.statusCode) >= 300
  if (!isComplaint || typeof body !== 'string') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return body.trim() === '' || /^\s*</.test(body) ? undefined : body.trim()
  }
}

/** A provider's message: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or the first of a list of such. */
export function messageIn(body: unknown): string | undefined {
  let part = body
  // The server chooses how deep the body is, so the depth is limited.
  for (let level = 0; level < DEEPEST; level++) {
    if (typeof part === 'string') return part === '' ? undefined : part
    if (typeof part !== 'object' || part === null) return undefined
    if (Array.isArray(part)) part = part[0] as unknown
    else if ('error' in part && part.error) part = part.error
    else if ('message' in part && typeof part.message === 'string' && part.message !== '') return part.message
    else part = 'detail' in part ? part.detail : undefined
  }
  return undefined
}

/** No provider nests its message deeper. */
const DEEPEST = 16
