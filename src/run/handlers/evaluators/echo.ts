import { getKey, type Json } from '../../../base/json.ts'
import { closedObject, openObject } from '../../../registry/workflows.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'

/** `svc:builtin:echo:v0`: the input `aloha`, or null. */
export const echo: HandlerDefinition = {
  key: 'echo',
  kind: 'builtin',
  schemas: {
    parameters: openObject({}),
    outputs: closedObject({ got: { description: 'The input aloha, or null.' } }, ['got']),
  },
  template: {
    description: 'Answers the input aloha as it came, to see whether requests arrive.',
    roles: 'evaluator',
    categories: ['builtin'],
  },
  example: { inputs: { aloha: 'hello' } },
  run,
}

function run({ inputs }: HandlerRequest): Json {
  return { got: (inputs && getKey(inputs, 'aloha')) ?? null }
}
