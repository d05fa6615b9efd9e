import { openObject } from '../../../registry/workflows.ts'
import type { HandlerDefinition } from '../handler.ts'
import { messageList, oneMessage } from './prompt-schemas.ts'

/** `svc:builtin:agent:v0`, which is stored and versioned here, but run by another service. */
export const agent: HandlerDefinition = {
  key: 'agent',
  kind: 'builtin',
  schemas: {
    parameters: openObject({
      agent: {
        type: 'object',
        'x-svc-type-ref': 'agent-template',
        default: { llm: { model: 'gpt-4o-mini' } },
      },
    }),
    inputs: openObject({ messages: messageList }),
    outputs: oneMessage,
  },
  template: {
    name: 'agent',
    description:
      'An agent with tools and skills. Its configuration is kept and versioned here; running it needs another service.',
    roles: 'application',
    categories: ['builtin'],
  },
}
