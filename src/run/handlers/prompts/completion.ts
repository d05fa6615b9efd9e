import { getKey, type Json } from '../../../base/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { DRAFT_2020_12, openObject } from '../../../registry/workflows.ts'
import { chosenSchema } from '../chosen-schema.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest, HandlerResult } from '../handler.ts'
import { answerPrompt, preparedPrompt } from './answer-prompt.ts'
import { promptParameters } from './prompt-schemas.ts'

/**
 * One prompt, one reply (`svc:builtin:completion:v0`, interface 11.18): the reply's text, which stays text even if a schema was requested;
 * else the model's refusal; else its tool calls.
 */
export const completion: HandlerDefinition = {
  key: 'completion',
  kind: 'builtin',
  schemas: {
    parameters: promptParameters({ role: 'user', content: '{{input}}' }),
    inputs: openObject({}),
    outputs: { $schema: DRAFT_2020_12, type: ['string', 'object', 'array'] },
  },
  computedWhere: { path: ['prompt', 'llm_config', 'response_format', 'type'], is: 'json_schema' },
  computedOutputs: (parameters) =>
    chosenSchema(parameters, 'prompt', 'llm_config', 'response_format', 'json_schema', 'schema'),
  template: {
    name: 'completion',
    description: 'A prompt that is filled in and answered once.',
    roles: 'application',
    categories: ['builtin'],
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<HandlerResult> {
  try {
    const prompt = preparedPrompt(request)
    return await answerPrompt(prompt, prompt.messages, request, context, outputsOf)
  } catch (error) {
    throw failureOfPrompt(error)
  }
}

function outputsOf({ message }: ChatReply): Json {
  return getKey(message, 'content') ?? getKey(message, 'refusal') ?? getKey(message, 'tool_calls') ?? ''
}
