import { PROBLEMS } from '../problem.ts'
import type { JsonSchema } from './json-schema.ts'

export function problemSchema(): JsonSchema {
  return {
    type: 'object',
    description: 'RFC 9457',
    required: ['type', 'title', 'status', 'detail', 'code', 'count'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong, with which field, and what to do.' },
      code: { type: 'string', enum: Object.keys(PROBLEMS) },
      count: { type: 'integer', const: 0 },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['loc', 'msg', 'type'],
          properties: {
            loc: { type: 'array', items: { type: ['string', 'integer'] } },
            msg: { type: 'string' },
            type: { type: 'string' },
          },
        },
      },
      conflict: { type: 'object' },
      details: { type: 'object' },
      conflicts: { type: 'array', items: { type: 'object' } },
      users: { type: 'array', items: { type: 'object' } },
      truncated: { type: 'boolean', const: true },
      trashed_at: { type: 'string' },
      until: { type: 'string' },
    },
  }
}
