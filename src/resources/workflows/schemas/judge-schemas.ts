import type { PlainObject } from '../../../json/json.ts'
import { exactMatchInPython } from '../exact-match-in-python.ts'
import type { BuiltInSchemas } from './built-in.ts'
import { closedObject, openObject } from './object-schema.ts'

/** The evaluators that ask somebody else for the verdict: a web address, the user's own code, a model. */
export function judgeSchemas(): Readonly<Record<string, BuiltInSchemas>> {
  return {
    auto_webhook_test: {
      parameters: closedObject(
        { webhook_url: { type: 'string', 'x-svc-type': 'text', title: 'Address to ask' } },
        ['webhook_url'],
      ),
      outputs: { ...judged, type: ['object', 'string'] },
    },
    auto_custom_code_run: {
      parameters: closedObject(
        {
          code: { type: 'string', default: exactMatchInPython, 'x-svc-type': 'code', title: 'Source' },
          runtime: {
            type: 'string',
            enum: ['python', 'javascript', 'typescript'],
            default: 'python',
            'x-svc-type': 'choice',
            title: 'Language',
          },
          version: { type: 'string', default: '3', 'x-svc-type': 'hidden' },
          correct_answer_key: {
            type: 'string',
            'x-svc-type': 'text',
            'x-svc-ui-advanced': true,
            title: 'Input that holds the expected answer',
            description:
              'Only source of version 1 is given the answer by itself; later ones find it in the inputs.',
          },
        },
        ['code'],
      ),
    },
    auto_ai_critique: {
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
    },
  }
}

/** The answer of somebody else, who may say more than was asked for; a number or a yes becomes a score. */
const judged: PlainObject = openObject({
  score: { type: ['number', 'boolean'] },
  success: { type: 'boolean' },
})

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
