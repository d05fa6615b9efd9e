import { getKey, isJsonObject, type Json } from '../../json/json.ts'
import type { HandlerRequest } from '../handler.ts'
import { equalLoosely } from '../metrics/equal-loosely.ts'
import { documentIn } from '../scoring/document-in.ts'
import { expectedOutput } from '../scoring/needed-answer.ts'
import { neededText } from '../needed-text.ts'

/**
 * `svc:builtin:field_match_test:v0` (contract/handlers 2.3): whether the outputs are an object, or the text of one, whose own top-level
 * key `json_field` holds the answer.
 */
export function fieldMatchTest(request: HandlerRequest): Json {
  const field = neededText(request.parameters, 'json_field')
  const { value: answer } = expectedOutput(request)
  const { outputs } = request
  const document = typeof outputs === 'string' || isJsonObject(outputs) ? documentIn(outputs) : undefined
  const value = isJsonObject(document) ? getKey(document, field) : undefined
  return { success: value !== undefined && equalLoosely(value, answer) }
}
