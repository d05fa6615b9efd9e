import type { PlainObject } from '../../../base/json.ts'
import { modelFields, samplingFields, templateFormatField } from './llm-types.ts'
import { messagesType } from './message-type.ts'
import { nullable, objectType } from './object-type.ts'

/** A prompt: its messages and model, and what happens when the model fails (interface 7.9, 11.20). */
export const promptTemplateType: PlainObject = objectType(
  {
    messages: {
      ...messagesType,
      default: [
        { role: 'system', content: '' },
        { role: 'user', content: '' },
      ],
    },
    template_format: templateFormatField,
    input_keys: nullable({ type: 'array', items: { type: 'string' } }),
    llm_config: llmConfig(),
    fallback_configs: nullable({ type: 'array', items: llmConfig() }),
    fallback_policy: policy('availability', 'capacity', 'access', 'context', 'any'),
    retry_config: nullable(
      objectType({
        max_retries: nullable({ type: 'integer', minimum: 0, maximum: 5 }),
        base_delay: nullable({
          type: 'integer',
          minimum: 100,
          maximum: 1000,
          description: 'Milliseconds; doubled after each try.',
        }),
      }),
    ),
    retry_policy: policy('availability', 'capacity', 'transient', 'any'),
  },
  [],
  { title: 'Prompt Template', 'x-svc-type': 'prompt-template' },
)

function llmConfig(): PlainObject {
  return objectType({
    ...modelFields,
    max_tokens: nullable({ type: 'integer', minimum: 0, maximum: 64000 }),
    ...samplingFields,
    response_format: nullable(responseFormat()),
    stream: nullable({ type: 'boolean' }),
    tools: nullable({ type: 'array', items: { type: 'object', additionalProperties: true } }),
  })
}

function responseFormat(): PlainObject {
  const jsonSchema = objectType(
    {
      name: { type: 'string' },
      description: nullable({ type: 'string' }),
      schema: nullable({ type: 'object', additionalProperties: true }),
      strict: nullable({ type: 'boolean' }),
    },
    ['name'],
  )
  const kind = (type: string): PlainObject => ({ type: 'string', const: type })
  return {
    oneOf: [
      objectType({ type: kind('text') }, ['type']),
      objectType({ type: kind('json_object') }, ['type']),
      objectType({ type: kind('json_schema'), json_schema: jsonSchema }, ['type', 'json_schema']),
    ],
  }
}

/** The failures that a policy covers: none, or those of a class and of all classes before it. */
function policy(...classes: readonly string[]): PlainObject {
  return nullable({ type: 'string', enum: ['off', ...classes] })
}
