import { getKey, isJsonArray, type Json } from '../../../base/json.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import {
  type HandlerFailure,
  invalidParameter,
  missingParameter,
  parameterProblem,
} from '../handler-failure.ts'
import type { HandlerDefinition } from '../handler.ts'
import { containsText } from '../metrics/contains-text.ts'
import { isCaseSensitive, neededOutputs, textOf } from '../scoring.ts'
import { textTest, type TextTest } from './text-test.ts'

/**
 * `svc:builtin:auto_contains_any:v0` (interface 11.3): passes at the first piece found. Without pieces it
 * fails.
 */
export const autoContainsAny = substringsTest(true, 'Texts of which one must be found', {
  key: 'auto_contains_any',
  name: 'Contains Any',
  description: 'Passes when the output contains at least one of several texts.',
  sought: ['Seine', 'Rhine'],
})

/**
 * `svc:builtin:auto_contains_all:v0` (interface 11.3): fails at the first missing piece. Without pieces it
 * succeeds.
 */
export const autoContainsAll = substringsTest(false, 'Texts that must all be found', {
  key: 'auto_contains_all',
  name: 'Contains All',
  description: 'Passes when the output contains each of several texts.',
  sought: ['Seine', 'Rhine'],
})

/**
 * An evaluator that searches several trimmed pieces of text; the first whose presence equals `wanted`
 * decides.
 */
function substringsTest(wanted: boolean, title: string, about: TextTest): HandlerDefinition {
  const schema = {
    type: 'array',
    items: { type: 'string' },
    'x-svc-type': 'tags',
    title,
    description: 'Such as Seine and Rhine; spaces around a text do not count.',
  }
  return textTest('substrings', schema, about, async (request) => {
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
  })
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
