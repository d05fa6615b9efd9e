import type { PlainObject } from '../../json/json.ts'
import type { BuiltInSchemas } from '../../resources/workflows/schemas/built-in.ts'
import { closedObject, openObject } from '../../resources/workflows/schemas/object-schema.ts'
import { messageList } from './prompt-schemas.ts'

const anyObject: PlainObject = { type: 'object', additionalProperties: true }

/** What the llm handler takes and answers. */
export const llmSchemas: BuiltInSchemas = {
  parameters: llmParameters(),
  inputs: llmInputs(),
  outputs: llmOutputs(),
}

function llmParameters(): PlainObject {
  return closedObject({
    llms: {
      type: 'array',
      minItems: 1,
      'x-svc-type-ref': 'llms',
      description: 'Models, tried in this order.',
    },
    loop: {
      type: ['object', 'null'],
      'x-svc-type-ref': 'loop',
      description: 'Limits of a tool loop; without it the model is called once.',
    },
    files: { type: 'array', items: anyObject, description: 'What the internal file tools may read.' },
    tools: { type: 'object', 'x-svc-type-ref': 'tools' },
    messages: { ...messageList, default: [], description: 'Sent before the messages of the request.' },
    context: { type: 'object', 'x-svc-type-ref': 'context' },
    permissions: { type: 'object', 'x-svc-type-ref': 'permissions' },
    response: { type: 'object', 'x-svc-type-ref': 'response' },
  })
}

function llmInputs(): PlainObject {
  return openObject({
    messages: messageList,
    message: { type: 'object', 'x-svc-type-ref': 'message' },
    content: { type: 'string' },
    context: { type: 'object', 'x-svc-type-ref': 'context' },
    permissions: { type: 'object', 'x-svc-type-ref': 'permissions' },
  })
}

function llmOutputs(): PlainObject {
  const status = {
    type: 'object',
    properties: { code: { type: 'integer' }, type: { type: 'string' }, message: { type: 'string' } },
    required: ['code', 'type', 'message'],
    additionalProperties: false,
  }
  const nullableObject = { type: ['object', 'null'] }
  return closedObject(
    {
      status,
      messages: messageList,
      context: nullableObject,
      consent: nullableObject,
      usage: nullableObject,
    },
    ['status', 'messages', 'context', 'consent', 'usage'],
  )
}
