import type { PlainObject } from '../../../json/json.ts'
import type { BuiltInSchemas } from './built-in.ts'
import { DRAFT_2020_12, closedObject, openObject } from './object-schema.ts'

/** What a prompt says that nobody has written yet: it is committed to the user's repository, and must suit any. */
const INSTRUCTION = 'You are a helpful assistant.'

/** The handlers that run a model: completion, chat, agent and llm; and echo, which only looks like one. */
export function promptSchemas(): Readonly<Record<string, BuiltInSchemas>> {
  return {
    completion: {
      parameters: promptParameters([
        { role: 'system', content: INSTRUCTION },
        { role: 'user', content: '{{input}}' },
      ]),
      inputs: openObject({}),
      outputs: { $schema: DRAFT_2020_12, type: ['string', 'object', 'array'] },
    },
    chat: {
      parameters: promptParameters([{ role: 'system', content: INSTRUCTION }]),
      inputs: openObject({ messages }),
      outputs: message,
    },
    agent: {
      parameters: openObject({
        agent: {
          type: 'object',
          'x-svc-type-ref': 'agent-template',
          default: { llm: { model: 'gpt-4o-mini' } },
        },
      }),
      inputs: openObject({ messages }),
      outputs: message,
    },
    llm: { parameters: llmParameters(), inputs: llmInputs(), outputs: llmOutputs() },
    echo: {
      parameters: openObject({}),
      outputs: closedObject({ got: { description: 'The input aloha, or null.' } }, ['got']),
    },
  }
}

const messages: PlainObject = { type: 'array', 'x-svc-type-ref': 'messages' }

const message: PlainObject = { $schema: DRAFT_2020_12, type: 'object', 'x-svc-type-ref': 'message' }

const anyObject: PlainObject = { type: 'object', additionalProperties: true }

function promptParameters(defaultMessages: readonly PlainObject[]): PlainObject {
  const prompt = {
    type: 'object',
    'x-svc-type-ref': 'prompt-template',
    default: {
      messages: [...defaultMessages],
      template_format: 'mustache',
      input_keys: null,
      llm_config: { model: 'gpt-4o-mini' },
    },
  }
  return openObject({ prompt })
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
    messages: { ...messages, default: [], description: 'Sent before the messages of the request.' },
    context: { type: 'object', 'x-svc-type-ref': 'context' },
    permissions: { type: 'object', 'x-svc-type-ref': 'permissions' },
    response: { type: 'object', 'x-svc-type-ref': 'response' },
  })
}

function llmInputs(): PlainObject {
  return openObject({
    messages,
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
    { status, messages, context: nullableObject, consent: nullableObject, usage: nullableObject },
    ['status', 'messages', 'context', 'consent', 'usage'],
  )
}
