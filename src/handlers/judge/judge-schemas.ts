import type { PlainObject } from '../../json/json.ts'
import type { BuiltInSchemas } from '../../resources/workflows/schemas/built-in.ts'
import { closedObject, openObject } from '../../resources/workflows/schemas/object-schema.ts'
import { judged } from '../scoring/schema-parts.ts'

/** What a judge is configured with, and what it answers. */
export const judgeSchemas: BuiltInSchemas = {
  parameters: closedObject(
    {
      prompt_template: {
        type: 'array',
        default: [
          {
            role: 'system',
            content:
              'You grade the work of an assistant. Judge strictly and answer only with the fields asked for.',
          },
          {
            role: 'user',
            content:
              'Expected: {{correct_answer}}\nAnswered: {{outputs}}\nDoes the answer say the same as the expected one?',
          },
        ],
        'x-svc-type-ref': 'messages',
        title: 'Question to the judge',
      },
      model: { type: 'string', default: 'gpt-4o', 'x-svc-type-ref': 'model', title: 'Judge' },
      connection: { type: ['string', 'null'], default: null, 'x-svc-type': 'hidden' },
      response_type: {
        type: 'string',
        default: 'json_schema',
        'x-svc-type': 'hidden',
        'x-svc-ui-advanced': true,
      },
      json_schema: judgement(),
      template_format: {
        type: 'string',
        enum: ['mustache', 'curly', 'fstring', 'jinja2'],
        'x-svc-type': 'hidden',
      },
      version: { type: 'string', default: '5', 'x-svc-type': 'hidden' },
    },
    ['prompt_template'],
  ),
  inputs: openObject({}),
  // Of a judge that is given no form; the form's schema takes its place.
  outputs: judged,
}

/** The judge's form: what the model is made to answer with. */
function judgement(): PlainObject {
  return {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'schema' },
      schema: { type: 'object' },
      strict: { type: ['boolean', 'null'], default: true },
    },
    default: {
      name: 'schema',
      schema: {
        type: 'object',
        properties: { score: { type: 'boolean', description: 'Whether the answer is right.' } },
        required: ['score'],
        additionalProperties: false,
      },
      strict: true,
    },
    'x-svc-type': 'llm_response_schema',
    title: 'Verdict',
  }
}
