import { getKey } from '../../base/json.ts'
import { closedObject } from '../../registry/workflows.ts'
import { HandlerFailure } from './handler-failure.ts'
import type { HandlerDefinition } from './handler.ts'

/**
 * `svc:custom:feedback:v0` (interface 11.24): describes feedback that people give on outputs. Running it
 * always fails.
 */
export const feedback: HandlerDefinition = {
  key: 'feedback',
  kind: 'custom',
  template: {
    name: 'Custom Feedback',
    description:
      'Keeps verdicts that come from elsewhere: those of people, or of a program that already has one.',
    roles: 'both',
    categories: [],
  },
  presets: [
    {
      key: 'quality-rating',
      name: 'Quality Rating',
      description: 'Thumbs up or thumbs down.',
      categories: [],
      schemas: {
        outputs: closedObject(
          {
            approved: {
              type: 'boolean',
              title: 'Approved',
              description: 'Whether the output is good enough.',
            },
          },
          ['approved'],
        ),
      },
    },
  ],
  run: ({ data }) => {
    const uri = getKey(data, 'uri')
    throw new HandlerFailure(
      'v0:workflows:feedback-error',
      `${typeof uri === 'string' ? uri : 'svc:custom:feedback:v0'} is the interface of feedback that people give; nothing runs it.`,
    )
  },
}
