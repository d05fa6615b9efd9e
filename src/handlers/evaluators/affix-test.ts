import type { Json } from '../../json/json.ts'
import type { HandlerRequest } from '../handler.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { neededText } from '../needed-text.ts'
import { textOf } from '../scoring/text-of.ts'

/**
 * The evaluators that ask for one piece of text: `auto_starts_with`, `auto_ends_with`, `auto_contains` (contract/handlers 2.3). Makes the
 * handler that takes the piece from a parameter and tests the text of the outputs with it. An empty piece is in every text.
 */
export function affixTest(
  parameter: 'prefix' | 'suffix' | 'substring',
  test: (text: string, piece: string) => boolean,
): (request: HandlerRequest) => Json {
  return (request) => {
    const piece = neededText(request.parameters, parameter)
    const text = textOf(neededOutputs(request))
    const tellsCase = isCaseSensitive(request.parameters)
    return { success: tellsCase ? test(text, piece) : test(text.toLowerCase(), piece.toLowerCase()) }
  }
}
