import type { PlainObject } from '../../../base/json.ts'
import { type ModelChoice, modelChoices } from '../../models/model-prices.ts'
import { TEMPLATE_FORMATS } from '../../templates/template-format.ts'
import { nullable, objectType } from './object-type.ts'

const anyObject: PlainObject = { type: 'object', additionalProperties: true }

/** The sampling options of every model call, for any handler. */
export const samplingFields: Readonly<Record<string, PlainObject>> = {
  temperature: nullable({ type: 'number', minimum: 0, maximum: 2 }),
  top_p: nullable({ type: 'number', minimum: 0, maximum: 1 }),
  frequency_penalty: nullable({ type: 'number', minimum: -2, maximum: 2 }),
  presence_penalty: nullable({ type: 'number', minimum: -2, maximum: 2 }),
  reasoning_effort: nullable({ type: 'string', enum: ['none', 'low', 'medium', 'high'] }),
  chat_template_kwargs: nullable(anyObject),
  tool_choice: {
    anyOf: [{ type: 'string', enum: ['none', 'auto'] }, anyObject, { type: 'null' }],
    default: null,
  },
}

/** The model of a call: its id, and the stored credential to use instead of the provider's default one. */
export const modelFields: Readonly<Record<string, PlainObject>> = {
  model: { type: 'string', default: 'gpt-4o-mini', 'x-svc-type-ref': 'model' },
  connection: nullable({ type: 'string' }, { 'x-svc-type': 'hidden' }),
}

/** The format of placeholders in messages. */
export const templateFormatField: PlainObject = {
  type: 'string',
  enum: [...TEMPLATE_FORMATS],
  default: 'curly',
}

/** A model of the handler `llm`, with its options. */
export const llmType: PlainObject = objectType(
  {
    ...modelFields,
    max_tokens: nullable({ type: 'integer', minimum: 0 }),
    ...samplingFields,
    template_format: templateFormatField,
  },
  [],
  { title: 'LLM', 'x-svc-type': 'llm' },
)

/** Models, tried in this order. */
export const llmsType: PlainObject = { type: 'array', items: llmType, title: 'LLMs', 'x-svc-type': 'llms' }

/** The limits of a tool loop. */
export const loopType: PlainObject = objectType(
  {
    max_iterations: nullable({ type: 'integer', minimum: 1 }),
    max_internal_tool_calls: nullable({ type: 'integer', minimum: 0 }),
    max_consecutive_errors: nullable({ type: 'integer', minimum: 0 }),
    allow_implicit_stop: nullable({ type: 'boolean' }),
    require_terminate_tool: nullable({ type: 'boolean' }),
  },
  [],
  { title: 'Loop', 'x-svc-type': 'loop' },
)

/** A tool that a model may call: the service runs `internal` ones, the client runs `external` ones. */
export const toolType: PlainObject = objectType(
  {
    name: { type: 'string' },
    type: { type: 'string', enum: ['internal', 'external'], default: 'internal' },
    definition: nullable(anyObject),
  },
  ['name'],
  { title: 'Tool', 'x-svc-type': 'tool' },
)

/** The tools of a call: internal ones by name, external ones in the provider's format. */
export const toolsType: PlainObject = objectType(
  {
    internal: nullable({ type: 'array', items: { type: 'string' } }),
    external: nullable({ type: 'array', items: anyObject }),
  },
  [],
  { title: 'Tools', 'x-svc-type': 'tools' },
)

/** Further context for a workflow, besides its messages. */
export const contextType: PlainObject = { ...anyObject, title: 'Context', 'x-svc-type': 'context' }

/** The permissions of a workflow. */
export const permissionsType: PlainObject = {
  ...anyObject,
  title: 'Permissions',
  'x-svc-type': 'permissions',
}

/** The format of an answer. */
export const responseType: PlainObject = objectType(
  {
    stream: { type: 'boolean', default: false },
    format: { type: 'string', enum: ['messages', 'message', 'text', 'json'], default: 'messages' },
    schema: nullable(anyObject),
  },
  [],
  { title: 'Response', 'x-svc-type': 'response' },
)

/** The id of a language model, with suggestions by provider and prices per million tokens (in US dollars). */
export const modelType: PlainObject = {
  type: 'string',
  default: 'gpt-4o-mini',
  title: 'Model',
  choices: ofEachProvider((models) => models.map(({ id }) => id)),
  'x-svc-type': 'grouped_choice',
  'x-svc-metadata': ofEachProvider((models) =>
    Object.fromEntries(models.flatMap(({ id, price }) => (price ? [[id, { ...price }]] : []))),
  ),
}

function ofEachProvider(make: (models: readonly ModelChoice[]) => PlainObject[string]): PlainObject {
  return Object.fromEntries(
    Object.entries(modelChoices).map(([provider, models]) => [provider, make(models)]),
  )
}
