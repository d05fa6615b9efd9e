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

/** A prompt as `parameters.prompt` has it (interface 7.9), not rendered yet. */
export interface Prompt {
  readonly messages: readonly JsonObject[]
  readonly templateFormat: TemplateFormat
  /** What the inputs must have; undefined when nothing is said. */
  readonly inputKeys: readonly string[] | undefined
  readonly llmConfig: LlmConfig
  /** Tried after `llmConfig`, in this order, as far as the policy allows. */
  readonly fallbackConfigs: readonly LlmConfig[]
  readonly fallbackPolicy: FallbackPolicy
  readonly retries: RetrySettings
}

/**
 * Reads a prompt. Unknown keys are ignored at every level; `system_prompt` and `user_prompt` make the messages where there are none.
 * Throws a `PromptProblem` whose path begins with `path`.
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

/** Contract/handlers 3.5: with a policy one retry after a second, unless the config says otherwise; without one, none. */
function retriesOf(fields: Fields): RetrySettings {
  const policy = fields.choice('retry_policy', RETRY_POLICIES) ?? 'off'
  const config = new Fields(fields.object('retry_config') ?? {}, fields.pathOf('retry_config'))
  const maxRetries = config.whole('max_retries', 0, 5)
  const baseDelayMs = config.number('base_delay', 100, 1000) ?? 1000
  return { policy, maxRetries: policy === 'off' ? 0 : (maxRetries ?? 1), baseDelayMs }
}

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const

/** What a message may have (interface 7.9). */
const KEYS: readonly string[] = ['role', 'content', 'name', 'tool_calls', 'tool_call_id']

/**
 * Reads messages that are at `path` (interface 7.9, `message`): roles, contents and tool calls are checked, unknown keys and
 * nulls left out. Throws a `PromptProblem`.
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

/** How a model is called (interface 7.9). What is undefined is not sent. */
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
  /** Only ever together with tools. */
  readonly toolChoice: 'none' | 'auto' | JsonObject | undefined
}

/** So many models one run may ask in turn: each is a call, and may be a time limit to wait for. */
export const MOST_MODELS = 100

const REASONING_EFFORTS = ['none', 'low', 'medium', 'high'] as const

/** How long a model is to think before it replies. */
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number]

/**
 * Reads an llm_config that is at `path`; unknown keys are ignored, `stream` is checked and otherwise ignored (whoever asks says whether
 * outputs come in pieces). Throws a `PromptProblem`.
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
    // an object, as has just been seen
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
 * The members of an object, read one by one; null and absent are the same. Each method answers undefined for a member that is not
 * there, and throws a `PromptProblem` for one of another type or range.
 */
export class Fields {
  readonly #object: JsonObject
  readonly #path: string

  /** `path` is where `value` is, '' at the top. */
  constructor(value: Json | undefined, path: string) {
    if (!isJsonObject(value)) throw new PromptProblem(path, 'dict', value)
    this.#object = value
    this.#path = path
  }

  /** Where the member is. */
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

  /** A list of at most so many items. */
  list(key: string, most = Infinity): readonly Json[] | undefined {
    const value = this.json(key)
    if (value !== undefined && !isJsonArray(value)) return this.refuse(key, 'list')
    return value === undefined || value.length <= most ? value : this.refuse(key, `list[at most ${most}]`)
  }

  /** One of a few words. */
  choice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    return choices.find((choice) => choice === value) ?? this.refuse(key, choices.join(' | '))
  }

  /** A member that has to be there, as one of the methods above has read it. */
  required<T>(key: string, value: T | undefined, expected: string): T {
    return value ?? this.refuse(key, expected)
  }

  refuse(key: string, expected: string): never {
    throw new PromptProblem(this.pathOf(key), expected, this.json(key))
  }
}

/** What is wrong with a prompt: where (`llm_config.temperature`), what was expected there, and what is there. */
export class PromptProblem extends Error {
  override readonly name = 'PromptProblem'
  readonly path: string
  readonly expected: string
  /** Undefined where something has to be and is not. */
  readonly got: Json | undefined

  constructor(path: string, expected: string, got: Json | undefined) {
    super(`At '${path}', expected ${expected}.`)
    this.path = path
    this.expected = expected
    this.got = got
  }
}
