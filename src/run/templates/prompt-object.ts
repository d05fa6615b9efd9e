import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  numberOf,
} from '../../base/json.ts'
import {
  FALLBACK_POLICIES,
  type FallbackPolicy,
  RETRY_POLICIES,
  type RetrySettings,
} from '../models/call-policies.ts'
import { TEMPLATE_FORMATS, type TemplateFormat } from './template-format.ts'

/** A prompt in `parameters.prompt` (interface 7.9), not rendered yet. */
export interface Prompt {
  readonly messages: readonly JsonObject[]
  readonly templateFormat: TemplateFormat
  /** The required inputs; undefined if the prompt does not list any. */
  readonly inputKeys: readonly string[] | undefined
  readonly llmConfig: LlmConfig
  /** Tried after `llmConfig`, in this order, as far as the policy allows. */
  readonly fallbackConfigs: readonly LlmConfig[]
  readonly fallbackPolicy: FallbackPolicy
  readonly retries: RetrySettings
}

/**
 * Reads a prompt. Unknown keys are ignored at every level; without messages, they are made from `system_prompt` and `user_prompt`. Throws a
 * `PromptProblem` whose path begins with `path`.
 */
export function readPrompt(value: Json | undefined, path = 'prompt'): Prompt {
  const fields = new Fields(value, path)
  return {
    messages: messagesOf(fields),
    templateFormat: fields.choice('template_format', TEMPLATE_FORMATS) ?? 'curly',
    inputKeys: inputKeysOf(fields),
    llmConfig: readLlmConfig(fields.json('llm_config'), fields.pathOf('llm_config')),
    fallbackConfigs: (fields.list('fallback_configs', MOST_MODELS) ?? []).map((config, index) =>
      readLlmConfig(config, `${fields.pathOf('fallback_configs')}[${index}]`),
    ),
    fallbackPolicy: fields.choice('fallback_policy', FALLBACK_POLICIES) ?? 'off',
    retries: retriesOf(fields),
  }
}

function messagesOf(fields: Fields): readonly JsonObject[] {
  const messages = fields.list('messages')
  const system = fields.text('system_prompt') ?? ''
  const user = fields.text('user_prompt') ?? ''
  if (messages) return readMessages(messages, fields.pathOf('messages'))
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
}

function inputKeysOf(fields: Fields): readonly string[] | undefined {
  return fields
    .list('input_keys')
    ?.map((key) => (typeof key === 'string' ? key : fields.refuse('input_keys', 'list[str]')))
}

/** With a policy, one retry after a second unless the config sets it; without one, none. */
function retriesOf(fields: Fields): RetrySettings {
  const policy = fields.choice('retry_policy', RETRY_POLICIES) ?? 'off'
  const config = new Fields(fields.object('retry_config') ?? {}, fields.pathOf('retry_config'))
  const maxRetries = config.whole('max_retries', 0, 5)
  const baseDelayMs = config.number('base_delay', 100, 1000) ?? 1000
  return { policy, maxRetries: policy === 'off' ? 0 : (maxRetries ?? 1), baseDelayMs }
}

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const

/** The members of a message (interface 7.9). */
const KEYS: readonly string[] = ['role', 'content', 'name', 'tool_calls', 'tool_call_id']

/**
 * Reads messages at `path` (interface 7.9, `message`): validates roles, contents and tool calls, and drops unknown keys and nulls. Throws a
 * `PromptProblem`.
 */
export function readMessages(value: readonly Json[], path: string): readonly JsonObject[] {
  return value.map((message, index) => readMessage(message, `${path}[${index}]`))
}

function readMessage(message: Json, path: string): JsonObject {
  const fields = new Fields(message, path)
  fields.required('role', fields.choice('role', ROLES), ROLES.join(' | '))
  readContent(fields.json('content'), fields.pathOf('content'))
  fields.text('name')
  fields.text('tool_call_id')
  fields
    .list('tool_calls')
    ?.forEach((call, index) => readToolCall(call, `${fields.pathOf('tool_calls')}[${index}]`))
  // an object, or the first line would have thrown
  const members = entriesOf(message as JsonObject)
  return fromEntries(members.filter(([key, member]) => KEYS.includes(key) && member !== null))
}

function readContent(content: Json | undefined, path: string): void {
  if (content === undefined || typeof content === 'string') return
  if (!isJsonArray(content)) throw new PromptProblem(path, 'str | list', content)
  content.forEach((part, index) => {
    const fields = new Fields(part, `${path}[${index}]`)
    const type = fields.required('type', fields.text('type'), 'str')
    if (type === 'text') fields.required('text', fields.text('text'), 'str')
    if (type === 'image_url') fields.required('image_url', fields.object('image_url'), 'dict')
    if (type === 'file') fields.required('file', fields.object('file'), 'dict')
  })
}

function readToolCall(call: Json, path: string): void {
  const fields = new Fields(call, path)
  fields.required('id', fields.text('id'), 'str')
  const called = new Fields(
    fields.required('function', fields.object('function'), 'dict'),
    fields.pathOf('function'),
  )
  called.required('name', called.text('name'), 'str')
  called.required('arguments', called.text('arguments'), 'str')
}

/** The options of a model's call (interface 7.9). Undefined ones are not sent. */
export interface LlmConfig {
  readonly model: string
  readonly connection: string | undefined
  readonly temperature: number | undefined
  readonly maxTokens: number | undefined
  readonly topP: number | undefined
  readonly frequencyPenalty: number | undefined
  readonly presencePenalty: number | undefined
  readonly reasoningEffort: ReasoningEffort | undefined
  readonly chatTemplateKwargs: JsonObject | undefined
  /** `{type: "text" | "json_object" | "json_schema", json_schema?}`, not rendered yet. */
  readonly responseFormat: JsonObject | undefined
  /** Undefined when there are none. */
  readonly tools: readonly JsonObject[] | undefined
  /** Never without tools. */
  readonly toolChoice: 'none' | 'auto' | JsonObject | undefined
}

/** Maximum models that one run may try: each is a call, and may take up to its time limit. */
export const MOST_MODELS = 100

const REASONING_EFFORTS = ['none', 'low', 'medium', 'high'] as const

/** How long a model thinks before it replies. */
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number]

/**
 * Reads an llm_config at `path`. Unknown keys are ignored; `stream` is validated and otherwise ignored, because the request decides about
 * streaming. Throws a `PromptProblem`.
 */
export function readLlmConfig(value: Json | undefined, path: string): LlmConfig {
  const fields = new Fields(value ?? {}, path)
  fields.flag('stream')
  const tools = readTools(fields)
  const toolChoice = readToolChoice(fields)
  return {
    model: fields.text('model') ?? 'gpt-4o-mini',
    connection: fields.text('connection'),
    temperature: fields.number('temperature', 0, 2),
    maxTokens: fields.whole('max_tokens', 0, 64_000),
    topP: fields.number('top_p', 0, 1),
    frequencyPenalty: fields.number('frequency_penalty', -2, 2),
    presencePenalty: fields.number('presence_penalty', -2, 2),
    reasoningEffort: fields.choice('reasoning_effort', REASONING_EFFORTS),
    chatTemplateKwargs: fields.object('chat_template_kwargs'),
    responseFormat: readResponseFormat(fields.json('response_format'), fields.pathOf('response_format')),
    tools,
    toolChoice: tools && toolChoice,
  }
}

function readTools(fields: Fields): readonly JsonObject[] | undefined {
  const tools = fields.list('tools')?.map((tool, index) => {
    new Fields(tool, `${fields.pathOf('tools')}[${index}]`)
    // an object, by the check above
    return tool as JsonObject
  })
  return tools?.length ? tools : undefined
}

function readToolChoice(fields: Fields): 'none' | 'auto' | JsonObject | undefined {
  const choice = fields.json('tool_choice')
  if (typeof choice === 'object') return fields.object('tool_choice')
  return choice === 'none' || choice === 'auto' || choice === undefined
    ? choice
    : fields.refuse('tool_choice', 'none | auto | dict')
}

const RESPONSE_TYPES = ['text', 'json_object', 'json_schema'] as const

function readResponseFormat(value: Json | undefined, path: string): JsonObject | undefined {
  if (value === undefined) return undefined
  const fields = new Fields(value, path)
  const type = fields.required('type', fields.choice('type', RESPONSE_TYPES), RESPONSE_TYPES.join(' | '))
  if (type !== 'json_schema') return { type }
  const schema = fields.required('json_schema', fields.object('json_schema'), 'dict')
  const members = new Fields(schema, fields.pathOf('json_schema'))
  members.required('name', members.text('name'), 'str')
  members.text('description')
  members.object('schema')
  members.flag('strict')
  // nulls of description and strict are kept (interface 7.9)
  const known = entriesOf(schema).filter(([key]) => JSON_SCHEMA_KEYS.includes(key))
  return { type, json_schema: fromEntries(known) }
}

const JSON_SCHEMA_KEYS: readonly string[] = ['name', 'description', 'schema', 'strict']

/**
 * Reads the members of an object; null counts as absent. Each method answers undefined for an absent member, and throws a `PromptProblem`
 * for one of another type or range.
 */
export class Fields {
  readonly #object: JsonObject
  readonly #path: string

  /** `path` is the place of `value`, '' at the top. */
  constructor(value: Json | undefined, path: string) {
    if (!isJsonObject(value)) throw new PromptProblem(path, 'dict', value)
    this.#object = value
    this.#path = path
  }

  /** The place of a member. */
  pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  json(key: string): Json | undefined {
    return getKey(this.#object, key) ?? undefined
  }

  text(key: string): string | undefined {
    const value = this.json(key)
    return value === undefined || typeof value === 'string' ? value : this.refuse(key, 'str')
  }

  flag(key: string): boolean | undefined {
    const value = this.json(key)
    return value === undefined || typeof value === 'boolean' ? value : this.refuse(key, 'bool')
  }

  /** A number from `least` to `most`. */
  number(key: string, least: number, most: number): number | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    const number = numberOf(value)
    return number !== undefined && number >= least && number <= most
      ? number
      : this.refuse(key, `float[${least}, ${most}]`)
  }

  /** A whole number from `least` to `most`. */
  whole(key: string, least: number, most: number): number | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    const number = numberOf(value)
    return number !== undefined && Number.isInteger(number) && number >= least && number <= most
      ? number
      : this.refuse(key, `int[${least}, ${most}]`)
  }

  object(key: string): JsonObject | undefined {
    const value = this.json(key)
    return value === undefined || isJsonObject(value) ? value : this.refuse(key, 'dict')
  }

  /** A list of at most `most` items. */
  list(key: string, most = Infinity): readonly Json[] | undefined {
    const value = this.json(key)
    if (value !== undefined && !isJsonArray(value)) return this.refuse(key, 'list')
    return value === undefined || value.length <= most ? value : this.refuse(key, `list[at most ${most}]`)
  }

  /** One of these words. */
  choice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    return choices.find((choice) => choice === value) ?? this.refuse(key, choices.join(' | '))
  }

  /** A required member, read by one of the methods above. */
  required<T>(key: string, value: T | undefined, expected: string): T {
    return value ?? this.refuse(key, expected)
  }

  refuse(key: string, expected: string): never {
    throw new PromptProblem(this.pathOf(key), expected, this.json(key))
  }
}

/** A problem of a prompt: its place (`llm_config.temperature`), the expected value, and the actual one. */
export class PromptProblem extends Error {
  override readonly name = 'PromptProblem'
  readonly path: string
  readonly expected: string
  /** Undefined for a missing member. */
  readonly got: Json | undefined

  constructor(path: string, expected: string, got: Json | undefined) {
    super(`At '${path}', expected ${expected}.`)
    this.path = path
    this.expected = expected
    this.got = got
  }
}
