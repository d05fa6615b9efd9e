import { getKey, isJsonArray, type Json } from '../../json/json.ts'
import {
  type HandlerFailure,
  invalidParameter,
  missingParameter,
  parameterProblem,
} from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'
import { containsText } from '../metrics/contains-text.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { isCaseSensitive } from '../scoring/is-case-sensitive.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { textOf } from '../scoring/text-of.ts'

/**
 * The evaluators that ask for several pieces of text: `auto_contains_any` (`wanted` is true: one that is there decides) and
 * `auto_contains_all` (false: one that is not). Each piece is trimmed. No pieces: any fails, all succeeds (contract/handlers 2.3).
 */
export function substringsTest(wanted: boolean): (request: HandlerRequest) => Promise<Json> {
  return async (request) => {
    const pieces = getKey(request.parameters, 'substrings') ?? undefined
    if (pieces === undefined) throw missingParameter('substrings')
    if (!isJsonArray(pieces)) throw invalidParameter('substrings', 'list', pieces)
    const outputs = neededOutputs(request)
    const needles = pieces.map(trimmed)
    const tellsCase = isCaseSensitive(request.parameters)
    const text = tellsCase ? textOf(outputs) : textOf(outputs).toLowerCase()
    const slice = new TimeSlice(undefined, () => tooMuch(needles.length, text.length))
    for (const needle of needles) {
      if (containsText(text, tellsCase ? needle : needle.toLowerCase()) === wanted) return { success: wanted }
      await slice.pause()
    }
    return { success: !wanted }
  }
}

function trimmed(piece: Json, index: number): string {
  if (typeof piece === 'string') return piece.trim()
  throw invalidParameter(`substrings[${index}]`, 'str', piece)
}

function tooMuch(pieces: number, length: number): HandlerFailure {
  return parameterProblem(
    'substrings',
    `${pieces} substrings in ${length} characters of outputs are more than are searched; send fewer.`,
  )
}
