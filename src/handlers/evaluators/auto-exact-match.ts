import { canonicalJson } from '../../json/canonical-json.ts'
import { equalJson } from '../../json/diff/equal-json.ts'
import { isJsonObject, type Json } from '../../json/json.ts'
import type { HandlerRequest } from '../handler.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'

/**
 * `svc:builtin:auto_exact_match:v0` (contract/handlers 2.3): whether outputs and answer are the same string, or objects that say the same.
 * Anything else, two equal arrays too, is no match.
 */
export function autoExactMatch(request: HandlerRequest): Json {
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
