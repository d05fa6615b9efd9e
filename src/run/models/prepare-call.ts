import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import {
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  plainJson,
} from '../../base/json.ts'
import { EXAMPLES, mockProblem, type ModelEndpoint } from './model-endpoint.ts'
import { type ChatCall, ModelFailure } from './models.ts'

/** A model with a prepared call. */
export interface PreparedCall {
  readonly model: LanguageModel
  readonly options: CallOptions
}

/**
 * Prepares a call. A server with the chat-completions protocol gets the request unchanged: the SDK would drop roles, parts and options that
 * it does not know, so the SDK's body is replaced. For anthropic and gemini the SDK translates. The SDK does not retry here. Its packages
 * are loaded on first use.
 */
export async function prepareCall(reached: ModelEndpoint, call: ChatCall): Promise<PreparedCall> {
  const { provider, id, baseUrl: baseURL, apiKey, fetch } = reached
  if (provider.protocol === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return {
      model: createAnthropic({ baseURL, apiKey, fetch })(id),
      options: translateCall(call, 'anthropic'),
    }
  }
  if (provider.protocol === 'gemini') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return {
      model: createGoogleGenerativeAI({ baseURL, apiKey, fetch })(id),
      options: translateCall(call, 'google'),
    }
  }
  if (provider.protocol === 'mock') return { model: mockModel(id, call.messages), options: { prompt: [] } }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const request = plainJson(chatRequest(call)) as object // the plain form of an object is an object
  const { chatModel } = createOpenAICompatible({
    name: provider.name,
    baseURL,
    apiKey,
    fetch,
    includeUsage: true,
    transformRequestBody: ({ stream, stream_options }) => ({ model: id, ...request, stream, stream_options }),
  })
  return { model: chatModel(id), options: { prompt: [] } }
}

/**
 * A call in the chat-completions format as a call of the AI SDK, for providers with their own protocol. They have no equivalent of
 * `chat_template_kwargs`; `reasoning_effort` becomes a budget of tokens. Throws a `ModelFailure` for messages that cannot be translated.
 */
function translateCall(call: ChatCall, sdkProvider: 'anthropic' | 'google'): CallOptions {
  const tools = (call.tools ?? []).map(toolOf)
  return {
    prompt: translateMessages(call.messages),
    ...given('maxOutputTokens', call.maxTokens),
    ...given('temperature', call.temperature),
    ...given('topP', call.topP),
    ...given('frequencyPenalty', call.frequencyPenalty),
    ...given('presencePenalty', call.presencePenalty),
    ...given('responseFormat', formatOf(call.responseFormat)),
    ...(tools.length > 0 ? { tools, ...given('toolChoice', choiceOf(call.toolChoice)) } : {}),
    ...given('providerOptions', reasoning(call.reasoningEffort, sdkProvider)),
  }
}

type Tool = NonNullable<CallOptions['tools']>[number]
type Schema = Extract<Tool, { type: 'function' }>['inputSchema']
type Format = NonNullable<CallOptions['responseFormat']>
type Choice = NonNullable<CallOptions['toolChoice']>

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  // A computed key is typed as any string.
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value }
}

function toolOf(tool: JsonObject): Tool {
  const definition = objectAt(tool, 'function') ?? tool
  return {
    type: 'function',
    name: textAt(definition, 'name') ?? '',
    ...given('description', textAt(definition, 'description')),
    inputSchema: schemaOf(objectAt(definition, 'parameters') ?? { type: 'object', properties: {} }),
  }
}

function choiceOf(choice: string | JsonObject | undefined): Choice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const named = isJsonObject(choice) ? objectAt(choice, 'function') : undefined
  const toolName = named && textAt(named, 'name')
  return toolName === undefined ? undefined : { type: 'tool', toolName }
}

function formatOf(format: JsonObject | undefined): Format | undefined {
  const type = format && textAt(format, 'type')
  if (!format || (type !== 'json_object' && type !== 'json_schema')) return undefined
  const described = objectAt(format, 'json_schema') ?? {}
  const schema = objectAt(described, 'schema')
  return {
    type: 'json',
    ...given('schema', schema && schemaOf(schema)),
    ...given('name', textAt(described, 'name')),
    ...given('description', textAt(described, 'description')),
  }
}

/** Providers validate JSON Schemas; here any object will do. */
function schemaOf(schema: JsonObject): Schema {
  return plainJson(schema) as Schema
}

function reasoning(
  effort: string | undefined,
  sdkProvider: 'anthropic' | 'google',
): CallOptions['providerOptions'] {
  const budget = effort === undefined ? undefined : BUDGETS.get(effort)
  if (budget === undefined) return undefined
  if (sdkProvider === 'google') return { google: { thinkingConfig: { thinkingBudget: budget } } }
  const thinking = budget === 0 ? { type: 'disabled' } : { type: 'enabled', budgetTokens: budget }
  return { anthropic: { thinking } }
}

/** The minimum of anthropic is 1024. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['low', 1024],
  ['medium', 2048],
  ['high', 4096],
])

type Message = CallOptions['prompt'][number]
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number]

/**
 * Messages in the chat-completions format as those of the AI SDK. `system` and `developer` messages come first, wherever they were, because
 * the other protocols have one place for them. Throws a `ModelFailure` that names a message that cannot be translated.
 */
function translateMessages(messages: readonly JsonObject[]): CallOptions['prompt'] {
  const toolNames = new Map<string, string>()
  const translated = messages.map((message, index) => translate(message, `messages[${index}]`, toolNames))
  const isSystem = ({ role }: Message): boolean => role === 'system'
  return [...translated.filter(isSystem), ...translated.filter((it) => !isSystem(it))]
}

/** `toolNames` keeps the tools of calls, for the messages that answer them. */
function translate(message: JsonObject, place: string, toolNames: Map<string, string>): Message {
  const role = textAt(message, 'role')
  const content = getKey(message, 'content') ?? null
  if (role === 'system' || role === 'developer') return { role: 'system', content: textOf(content, place) }
  if (role === 'user') return { role, content: partsOf(content, place) }
  if (role === 'assistant') {
    const text = textOf(content, place)
    const said: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }]
    return { role, content: [...said, ...callsOf(message, place, toolNames)] }
  }
  if (role === 'tool') {
    const toolCallId = textAt(message, 'tool_call_id') ?? ''
    const toolName = textAt(message, 'name') ?? toolNames.get(toolCallId) ?? toolCallId
    const output = { type: 'text' as const, value: textOf(content, place) }
    return { role, content: [{ type: 'tool-result', toolCallId, toolName, output }] }
  }
  throw new ModelFailure(
    'request',
    `${place} has the role '${role ?? ''}', which this provider does not know.`,
  )
}

function partsOf(content: Json, place: string): UserPart[] {
  if (isJsonArray(content))
    return content.map((part, index) => translatePart(part, `${place}.content[${index}]`))
  return [{ type: 'text', text: textOf(content, place) }]
}

/** The text of a message that has only text. */
function textOf(content: Json, place: string): string {
  if (content === null) return ''
  if (typeof content === 'string') return content
  const texts = partsOf(content, place).map((part) => (part.type === 'text' ? part.text : undefined))
  if (texts.includes(undefined))
    throw new ModelFailure('request', `${place}.content holds more than text, which only a user may send.`)
  return texts.join('')
}

function callsOf(message: JsonObject, place: string, toolNames: Map<string, string>): AssistantPart[] {
  const calls = getKey(message, 'tool_calls')
  return (isJsonArray(calls) ? calls : []).flatMap((call, index): AssistantPart[] => {
    const called = isJsonObject(call) ? getKey(call, 'function') : undefined
    if (!isJsonObject(call) || !isJsonObject(called)) return []
    const toolCallId = textAt(call, 'id') ?? ''
    const toolName = textAt(called, 'name') ?? ''
    toolNames.set(toolCallId, toolName)
    const input = inputOf(textAt(called, 'arguments') ?? '', `${place}.tool_calls[${index}]`)
    return [{ type: 'tool-call', toolCallId, toolName, input }]
  })
}

function inputOf(text: string, place: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw new ModelFailure('request', `${place}.function.arguments is not the text of a JSON value.`)
  }
}

/** A part of a user's message. */
type UserPart = Extract<CallOptions['prompt'][number], { role: 'user' }>['content'][number]

/**
 * A content part in the chat-completions format (interface 11.19) as one of the AI SDK: text, images, files and audio, as data or by
 * address. Nothing is fetched: the provider gets the address. Throws a `ModelFailure` that names the part.
 */
function translatePart(part: Json, place: string): UserPart {
  const type = isJsonObject(part) ? textAt(part, 'type') : undefined
  const held = isJsonObject(part) && type !== undefined ? getKey(part, type) : undefined
  if (type === 'text' && typeof held === 'string') return { type, text: held }
  if (isJsonObject(held)) {
    if (type === 'image_url') return fileAt(textAt(held, 'url'), 'image/*', `${place}.image_url.url`)
    if (type === 'file') return fileOf(held, `${place}.file`)
    if (type === 'input_audio')
      return { type: 'file', mediaType: `audio/${textAt(held, 'format')}`, data: textAt(held, 'data') ?? '' }
  }
  throw new ModelFailure(
    'request',
    `${place} is no part that this provider knows: its type is '${type ?? ''}'.`,
  )
}

function fileOf(file: JsonObject, place: string): UserPart {
  const mediaType = textAt(file, 'mime_type') ?? textAt(file, 'format') ?? 'application/pdf'
  const data = textAt(file, 'file_data')
  const name = textAt(file, 'file_name') ?? textAt(file, 'filename')
  const found =
    data !== undefined && !data.startsWith('data:')
      ? { type: 'file' as const, mediaType, data }
      : fileAt(data ?? textAt(file, 'file_url'), mediaType, place)
  return name === undefined ? found : { ...found, filename: name }
}

/** A file by its address; a `data:` address contains it. */
function fileAt(url: string | undefined, mediaType: string, place: string): UserPart & { type: 'file' } {
  const comma = url?.startsWith('data:') ? url.indexOf(',') : -1
  if (url !== undefined && comma > 0 && url.slice(0, comma).endsWith(';base64')) {
    const [named = ''] = url.slice('data:'.length, comma).split(';')
    return { type: 'file', mediaType: named || mediaType, data: url.slice(comma + 1) }
  }
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url))
    throw new ModelFailure('request', `${place} is neither an http or https address nor base64 data.`)
  return { type: 'file', mediaType, data: new URL(url) }
}

/** A call in the chat-completions format, without the model. Undefined options are not sent. */
export function chatRequest(call: ChatCall): JsonObject {
  const hasTools = call.tools !== undefined && call.tools.length > 0
  const members: readonly (readonly [string, Json | undefined])[] = [
    ['messages', call.messages],
    ['temperature', call.temperature],
    // OpenAI's reasoning models accept only the new name, and compatible servers know only the old one.
    [REASONING_MODELS.test(call.model) ? 'max_completion_tokens' : 'max_tokens', call.maxTokens],
    ['top_p', call.topP],
    ['frequency_penalty', call.frequencyPenalty],
    ['presence_penalty', call.presencePenalty],
    ['reasoning_effort', call.reasoningEffort],
    ['chat_template_kwargs', call.chatTemplateKwargs],
    ['response_format', call.responseFormat],
    ['tools', hasTools ? call.tools : undefined],
    ['tool_choice', hasTools ? call.toolChoice : undefined],
  ]
  return fromEntries(members.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

const REASONING_MODELS = /^(?:openai\/)?(?:o[0-9]|gpt-5)/

/** The member with this name if it is text. */
export function textAt(object: JsonObject, key: string): string | undefined {
  const value = getKey(object, key)
  return typeof value === 'string' ? value : undefined
}

/** The member with this name if it is an object. */
export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = getKey(object, key)
  return isJsonObject(value) ? value : undefined
}

/** A model of the AI SDK. */
export type LanguageModel = ReturnType<OpenAICompatibleProvider['chatModel']>

/** The options of a call of a model. */
export type CallOptions = Parameters<LanguageModel['doGenerate']>[0]

/**
 * `mock/examples`: a model without a key and a network, for first steps and tests. It searches the earlier user messages, newest first, for
 * one equal to the last (ignoring white space at the ends), and answers with the assistant's message after it; without one, it repeats the
 * last message. Equal conversations get equal answers. Throws a `ModelFailure` for any other name, and for a conversation without a user
 * message.
 */
export function mockModel(id: string, messages: readonly JsonObject[]): LanguageModel {
  const problem = mockProblem(id)
  if (problem !== undefined) throw new ModelFailure('request', problem)
  const text = answerTo(messages)
  const usage = usageOf(messages, text)
  const finishReason = { unified: 'stop', raw: 'stop' } as const
  return {
    specificationVersion: 'v3',
    provider: 'mock',
    modelId: id,
    supportedUrls: {},
    doGenerate: async ({ abortSignal }) => {
      abortSignal?.throwIfAborted()
      return { content: [{ type: 'text', text }], usage, finishReason, warnings: [] }
    },
    doStream: async (options) => ({
      stream: streamOf(parts(text, { type: 'finish', usage, finishReason }), options),
    }),
  }
}

type Part =
  Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Each> ? Each : never

/** The answer word by word, each with the white space before it. */
function* parts(text: string, finish: Part): Generator<Part> {
  for (const [delta] of text.matchAll(/\s*\S+|\s+/g)) yield { type: 'text-delta', id: 'text', delta }
  yield finish
}

function streamOf(from: Iterator<Part>, { abortSignal }: CallOptions): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      pull: (controller) => {
        abortSignal?.throwIfAborted()
        const { done, value } = from.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    // Each word is made on request.
    { highWaterMark: 0 },
  )
}

function answerTo(messages: readonly JsonObject[]): string {
  const last = messages.findLastIndex(isBy('user'))
  const asked = messages[last]
  if (!asked)
    throw new ModelFailure(
      'request',
      `mock/${EXAMPLES} answers the last message of a user, and this conversation has none. Add a message with the role user.`,
    )
  const question = textsOf(asked)
  const example = messages.findLastIndex((message, at) => {
    const next = messages[at + 1]
    const isAnswered = at < last && next !== undefined && isBy('assistant')(next)
    return isAnswered && isBy('user')(message) && textsOf(message).trim() === question.trim()
  })
  return textsOf((example < 0 ? asked : messages[example + 1]) ?? asked)
}

function isBy(role: string): (message: JsonObject) => boolean {
  return (message) => textAt(message, 'role') === role
}

/** The texts of a message, in its content or its parts. */
function textsOf(message: JsonObject): string {
  const content = getKey(message, 'content')
  if (typeof content === 'string') return content
  const parts = isJsonArray(content) ? content : []
  return parts.map((part) => (isJsonObject(part) ? (textAt(part, 'text') ?? '') : '')).join('')
}

/** Counts words as tokens. */
function usageOf(
  messages: readonly JsonObject[],
  text: string,
): Awaited<ReturnType<LanguageModel['doGenerate']>>['usage'] {
  const input = messages.reduce((sum, message) => sum + wordsIn(textsOf(message)), 0)
  const output = wordsIn(text)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

function wordsIn(text: string): number {
  let words = 0
  for (const _ of text.matchAll(/\S+/g)) words++
  return words
}
