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
  type TokenUsage,
} from './models.ts'
import { chatRequest, type LanguageModel, prepareCall } from './prepare-call.ts'
import { OutgoingFailure } from '../../feeds/outgoing.ts'
import type { OpenSpan } from '../../feeds/traces.ts'

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

/** What ends a call: nobody waits any more, or its time is over. */
export interface TimeLimit {
  /** The caller's. */
  readonly signal: AbortSignal
  readonly timeout: AbortSignal
  readonly timeoutMs: number
  /** Aborted by either. */
  readonly either: AbortSignal
}

/** Starts the clock of a call. */
export function timeLimit(signal: AbortSignal, timeoutMs: number): TimeLimit {
  const timeout = AbortSignal.timeout(timeoutMs)
  return { signal, timeout, timeoutMs, either: AbortSignal.any([signal, timeout]) }
}

/** A call that failed, maybe before it was known whom to make it to. */
export interface UnfinishedCall extends Omit<FailedCall, 'reached'> {
  readonly reached: ModelEndpoint | undefined
}

/**
 * What to throw of an error that ended a call: a `ModelFailure`, or the error itself when it came from where credentials are kept. Puts
 * it into the call's span.
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

/** The call that an error came out of. */
interface FailedCall {
  readonly model: string
  /** Whom it was made to. The key is taken out of every message: some providers say it again when they refuse it. */
  readonly reached: Pick<ModelEndpoint, 'provider' | 'apiKey'>
  readonly limit: TimeLimit
}

/**
 * Why a call failed, of what the SDK, the connection or the time limit made of it (interface 11.20). The message holds what the
 * provider said, without the key and at most 1000 characters of it.
 */
function modelFailureOf(error: unknown, { model, reached, limit }: FailedCall): ModelFailure {
  if (error instanceof ModelFailure) return error
  const hideKey = (text: string): string => hidden(text, reached.apiKey)
  const fail = (kind: ModelFailureKind, sentence: string, status?: number): ModelFailure =>
    new ModelFailure(kind, `The model '${model}' of '${reached.provider.name}' ${hideKey(sentence)}`, status)
  const said = boundedText(hideKey(messageOf(error)), 1000)
  // Nobody waits: neither to be tried again nor elsewhere.
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

function hidden(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '***')
}

const OUTGOING_KINDS = { address: 'request', network: 'availability', size: 'answer' } as const

/** An error and what caused it, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let it = error; it instanceof Error && !causes.includes(it); it = it.cause) causes.push(it)
  return causes
}

/** The HTTP status that an `APICallError` of the SDK carries. */
function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** Whether the provider told of an error in the middle of its answer: such a one is data, not thrown by anybody. */
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

/** The sentences of the common providers about a prompt that is too long. */
const TOO_LONG =
  /context[ _-]?(?:length|window|size)|maximum context|token limit|too many tokens|(?:prompt|input) is too long|input token count|maximum number of (?:input )?tokens/i

/** What the provider asks for before the next call. */
function waitOf(error: unknown): string {
  const headers = error instanceof Error && 'responseHeaders' in error ? error.responseHeaders : undefined
  const after =
    typeof headers === 'object' && headers !== null && 'retry-after' in headers ? headers['retry-after'] : ''
  return /^[0-9]{1,6}$/.test(String(after)) ? ` It asks to wait ${String(after)} s.` : ''
}

/**
 * What went wrong in the provider's own words, as a sentence: of the body it answered with, whichever of the usual places it used, else
 * what the SDK makes of it.
 */
function messageOf(error: unknown): string {
  const text = inBody(bodyOf(error)) ?? inBody(error) ?? 'it did not say why'
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** The body of an answer that an `APICallError` of the SDK carries. */
function bodyOf(error: unknown): unknown {
  const body = error instanceof Error && 'responseBody' in error ? error.responseBody : undefined
  // A body that answers with success is no complaint; what is wrong with it is in the error.
  const isComplaint = error instanceof Error && 'statusCode' in error && Number(error.statusCode) >= 300
  if (!isComplaint || typeof body !== 'string') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return body.trim() === '' || /^\s*</.test(body) ? undefined : body.trim()
  }
}

/** `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or the first of a list of such. */
function inBody(body: unknown): string | undefined {
  let part = body
  // Whoever answers chooses how deep it is.
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

/** No provider wraps its words in more objects and lists than this. */
const DEEPEST = 16
