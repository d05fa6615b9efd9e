import { getKey, isJsonObject, type Json } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { equalLoosely } from '../metrics/equal-loosely.ts'
import { neededText } from '../needed-text.ts'
import { documentIn } from '../scoring/document-in.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'
import { advanced, answerKey, passed } from '../scoring/schema-parts.ts'

/**
 * `svc:builtin:field_match_test:v0` (contract/handlers 2.3): whether the outputs are an object, or the text of one, whose own top-level
 * key `json_field` holds the answer.
 */
export const fieldMatchTest: HandlerDefinition = {
  key: 'field_match_test',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        json_field: { type: 'string', default: '', 'x-svc-type': 'text', title: 'Field of the output' },
        correct_answer_key: advanced(answerKey),
      },
      ['json_field'],
    ),
    outputs: passed,
  },
  template: {
    name: 'JSON Field Match',
    description: 'Passes when one field of a JSON output equals the expected answer.',
    roles: 'evaluator',
    categories: ['classifiers'],
    isArchived: true,
  },
  example: {
    parameters: { json_field: 'city' },
    inputs: { correct_answer: 'Paris' },
    outputs: '{"city":"Paris"}',
  },
  run,
}

function run(request: HandlerRequest): Json {
  const field = neededText(request.parameters, 'json_field')
  const { value: answer } = expectedOutput(request)
  const { outputs } = request
  const document = typeof outputs === 'string' || isJsonObject(outputs) ? documentIn(outputs) : undefined
  const value = isJsonObject(document) ? getKey(document, field) : undefined
  return { success: value !== undefined && equalLoosely(value, answer) }
}
