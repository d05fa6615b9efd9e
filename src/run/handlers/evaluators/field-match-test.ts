import { boundedJson, getKey, isJsonObject, type Json } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { invalidOutputs } from '../handler-failure.ts'
import { type HandlerDefinition, type HandlerRequest, ReasonedVerdict } from '../handler.ts'
import { equalLoosely } from '../metrics/equal-loosely.ts'
import { neededText } from '../needed-text.ts'
import { advanced, answerKey, differenceOfTypes, documentIn, expectedOutput, passed } from '../scoring.ts'

/**
 * `svc:builtin:field_match_test:v0` (interface 11.3): whether the top-level key `json_field` of the outputs,
 * an object or its text, holds the answer. Throws `invalid-outputs` for other outputs.
 */
export const fieldMatchTest: HandlerDefinition = {
  key: 'field_match_test',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        json_field: {
          type: 'string',
          default: '',
          'x-svc-type': 'text',
          title: 'Field of the output',
          description:
            'A key at the top of the JSON output, such as city; its value is compared with the expected answer.',
        },
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

function run(request: HandlerRequest): Json | ReasonedVerdict {
  const field = neededText(request.parameters, 'json_field')
  const { value: answer } = expectedOutput(request)
  const { outputs = null } = request
  const document = documentIn(outputs)
  if (!isJsonObject(document)) throw invalidOutputs('dict, or its JSON text', outputs)
  const value = getKey(document, field)
  if (value !== undefined && equalLoosely(value, answer)) return { success: true }
  const reason =
    value === undefined
      ? `The output has no field ${boundedJson(field, 80)}.`
      : differenceOfTypes(value, answer)
  return reason === undefined ? { success: false } : new ReasonedVerdict({ success: false }, reason)
}
