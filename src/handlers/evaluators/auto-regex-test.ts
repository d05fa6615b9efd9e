import { getKey, type Json } from '../../json/json.ts'
import type { HandlerContext, HandlerRequest } from '../handler.ts'
import { searchPattern } from '../worker/search-pattern.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { neededText } from '../needed-text.ts'
import { textOf } from '../scoring/text-of.ts'

/**
 * `svc:builtin:auto_regex_test:v0` (contract/handlers 2.3): whether `regex_pattern` is found in the outputs, or is not where
 * `regex_should_match` is there and not `true`.
 */
export function autoRegexTest(request: HandlerRequest, context: HandlerContext): Json | Promise<Json> {
  const { parameters } = request
  const pattern = neededText(parameters, 'regex_pattern')
  const text = textOf(neededOutputs(request))
  const wanted = getKey(parameters, 'regex_should_match') ?? true
  const found = searchPattern(pattern, isCaseSensitive(parameters), text, context)
  const result = (isFound: boolean): Json => ({ success: isFound === (wanted === true) })
  return typeof found === 'boolean' ? result(found) : found.then(result)
}
