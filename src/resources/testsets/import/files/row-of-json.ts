import type { Refusal } from '../../../../errors.ts'
import { JsonTextError } from '../../../../json/json-text-error.ts'
import type { JsonObject } from '../../../../json/json.ts'
import { parseJson } from '../../../../json/parse-json.ts'
import { MOST_ROW_VALUES } from '../input-row.ts'
import { invalidFile, pastLimit, rowTooLarge } from './file-refusal.ts'
import { type FileLimits, MAX_ROW_DEPTH } from './file-row.ts'
import { type TextPlace, placeIn } from './text-place.ts'

/**
 * The row that a text of a JSON or JSON Lines file holds; it must begin with a brace. Refuses what `parseJson` refuses
 * and what is past the limits, the latter before anything grows. `begin` says where in the file the text begins, and is
 * asked only to refuse.
 */
export function rowOfJson(text: string, limits: FileLimits, begin: () => TextPlace): JsonObject {
  const { maxRowBytes, maxColumns } = limits
  // a UTF-16 unit takes three bytes at most, a member (such as "a":1) five units at least
  if (text.length * 3 > maxRowBytes && Buffer.byteLength(text) > maxRowBytes) {
    throw rowTooLarge(begin(), maxRowBytes)
  }
  if (text.length > maxColumns * 5 && membersOf(text) > maxColumns) {
    throw pastLimit(begin(), `The row has more members than the limit of ${maxColumns} columns; send fewer.`)
  }
  try {
    // what begins with a brace and is a value is an object
    return parseJson(text, { maxDepth: MAX_ROW_DEPTH, maxValues: MOST_ROW_VALUES }) as JsonObject
  } catch (error) {
    if (error instanceof JsonTextError && error.kind === 'too_many_values') {
      throw pastLimit(begin(), `The row has more than the limit of ${MOST_ROW_VALUES} values; split it.`)
    }
    throw error instanceof JsonTextError ? refusalOf(error, text, begin()) : error
  }
}

/** How many members an object's text has, or seems to have if it is not well formed. */
function membersOf(text: string): number {
  let depth = 0
  let quoted = false
  let commas = 0
  for (let pos = 0; pos < text.length; pos++) {
    const char = text.charAt(pos)
    if (char === '"') quoted = !quoted
    else if (quoted) pos += char === '\\' ? 1 : 0
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ',' && depth === 1) commas++
  }
  return commas + 1
}

/** The parser's complaint, with its place in the row's text turned into one in the file. */
function refusalOf({ line, column, path, message }: JsonTextError, text: string, begin: TextPlace): Refusal {
  let start = 0
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1
  const way = path.length === 0 ? '' : ` (in ${path.join('.')})`
  const sentence = message.slice(`JSON line ${line}, column ${column}${way}: `.length)
  return invalidFile(placeIn(begin, text, start + column - 1), sentence + way)
}
