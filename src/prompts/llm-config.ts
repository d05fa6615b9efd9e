import { type Json, type JsonObject, entriesOf, fromEntries } from '../json/json.ts'
import { Fields } from './fields.ts'

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
