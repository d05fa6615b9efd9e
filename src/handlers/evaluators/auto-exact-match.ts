import { canonicalJson } from '../../json/canonical-json.ts'
import { equalJson } from '../../json/diff/equal-json.ts'
import { isJsonObject, type Json } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'
import { advanced, answerKey, passed } from '../scoring/schema-parts.ts'

/**
 * `svc:builtin:auto_exact_match:v0` (contract/handlers 2.3): whether outputs and answer are the same string, or objects that say the same.
 * Anything else, two equal arrays too, is no match.
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
    description: 'Passes when the output is exactly the expected answer; of objects, in any order of keys.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' },
  run,
}

function run(request: HandlerRequest): Json {
  const { value: answer } = expectedOutput(request)
  return { success: isMatch(request.outputs, answer, isCaseSensitive(request.parameters)) }
}

function isMatch(outputs: Json | undefined, answer: Json, tellsCase: boolean): boolean {
  if (typeof outputs === 'string' && typeof answer === 'string') {
    return outputs === answer || (!tellsCase && outputs.toLowerCase() === answer.toLowerCase())
  }
  if (!isJsonObject(outputs) || !isJsonObject(answer)) return false
  if (equalJson(outputs, answer)) return true
  return !tellsCase && canonicalJson(outputs).toLowerCase() === canonicalJson(answer).toLowerCase()
}
