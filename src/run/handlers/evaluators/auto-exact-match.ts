import { canonicalJson, equalJson, isJsonArray, isJsonObject, type Json } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { type HandlerDefinition, type HandlerRequest, ReasonedVerdict } from '../handler.ts'
import {
  advanced,
  answerKey,
  differenceOfTypes,
  expectedOutput,
  isCaseSensitive,
  passed,
} from '../scoring.ts'

/**
 * `svc:builtin:auto_exact_match:v0` (interface 11.5): whether outputs and answer are the same JSON value:
 * numbers by value, arrays and objects deeply, text only with text. Missing outputs are null. A reason is
 * given if only the types differ.
 */
export const autoExactMatch: HandlerDefinition = {
  key: 'auto_exact_match',
  kind: 'builtin',
  schemas: {
    parameters: closedObject({ correct_answer_key: advanced(answerKey) }),
    outputs: passed,
  },
  template: {
    name: 'Exact Match',
    description:
      'Passes when the output is exactly the expected answer: the same text, number, true or false, or the same JSON in any order of keys.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' },
  run,
}

function run(request: HandlerRequest): Json | ReasonedVerdict {
  const { value: answer } = expectedOutput(request)
  const { outputs = null } = request
  const success =
    equalJson(outputs, answer) || (!isCaseSensitive(request.parameters) && equalWithoutCase(outputs, answer))
  const reason = success ? undefined : differenceOfTypes(outputs, answer)
  return reason === undefined ? { success } : new ReasonedVerdict({ success }, reason)
}

function equalWithoutCase(outputs: Json, answer: Json): boolean {
  return hasLetters(outputs) && hasLetters(answer) && lowered(outputs) === lowered(answer)
}

/** Whether case can matter in a value. */
function hasLetters(value: Json): boolean {
  return typeof value === 'string' || isJsonArray(value) || isJsonObject(value)
}

/** The lowercased canonical text; its quotes keep a string distinct from other values. */
function lowered(value: Json): string {
  return canonicalJson(value).toLowerCase()
}
