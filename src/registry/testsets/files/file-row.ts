import type { Refusal } from '../../../errors.ts'
import { JsonTextError, type JsonObject, parseJson } from '../../../base/json.ts'
import { MOST_ROW_VALUES } from '../import/input-row.ts'
import { type TextPlace, invalidFile, pastLimit, placeIn, rowTooLarge } from './file-refusal.ts'

/**
 * One row of an uploaded file. Its texts may be slices of a larger text that they keep in memory: copy a part
 * that outlives the row.
 */
export interface FileRow {
  /** The row's members in the file's order, including metadata columns such as `__id__`. */
  readonly data: JsonObject
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** The raw cells, for a table whose rows have ids; see `keepStoredValues`. */
  readonly cells?: RowCells
}

/** The cells of a table row as texts, at least one per column. */
export interface RowCells {
  readonly columns: readonly string[]
  readonly texts: readonly string[]
}

/** What a reader learns about a file besides its rows. */
export interface FileNotes {
  /** The columns of a table's header without metadata columns; set even if the table has no rows. */
  readonly columns: string[]
  /** The column names that were changed. */
  readonly renamed: RenamedColumn[]
}

/** A column whose name lost invisible characters at its ends or was Unicode-normalised. */
export interface RenamedColumn {
  readonly from: string
  readonly to: string
}

/** Limits on any uploaded file. */
export interface FileLimits {
  /** Maximum size of one row in the file. Memory use grows with this limit, not with the file. */
  readonly maxRowBytes: number
  /** Maximum number of columns in the header, or of members in one row. */
  readonly maxColumns: number
}

/** How a file of any format is read. */
export interface FileOptions extends FileLimits {
  /** Whether an empty file means no rows. */
  readonly allowEmpty?: boolean | undefined
}

/** Maximum nesting of arrays and objects in a row, including the row itself. */
export const MAX_ROW_DEPTH = 200

/**
 * Parses the text of one row of a JSON or JSON Lines file; it must begin with a brace. Refuses what
 * `parseJson` refuses, and a row past the limits before memory use grows. `begin` returns the text's place in
 * the file and is called only to refuse.
 */
export function rowOfJson(text: string, limits: FileLimits, begin: () => TextPlace): JsonObject {
  const { maxRowBytes, maxColumns } = limits
  // a UTF-16 unit takes at most three bytes, a member (such as "a":1) at least five units
  if (text.length * 3 > maxRowBytes && Buffer.byteLength(text) > maxRowBytes) {
    throw rowTooLarge(begin(), maxRowBytes)
  }
  if (text.length > maxColumns * 5 && membersOf(text) > maxColumns) {
    throw pastLimit(begin(), `The row has more members than the limit of ${maxColumns} columns; send fewer.`)
  }
  try {
    // a valid value that begins with a brace is an object
    return parseJson(text, { maxDepth: MAX_ROW_DEPTH, maxValues: MOST_ROW_VALUES }) as JsonObject
  } catch (error) {
    if (error instanceof JsonTextError && error.kind === 'too_many_values') {
      throw pastLimit(begin(), `The row has more than the limit of ${MOST_ROW_VALUES} values; split it.`)
    }
    throw error instanceof JsonTextError ? refusalOf(error, text, begin()) : error
  }
}

/** The number of members in an object's text; an estimate if the text is malformed. */
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

/** Converts a parser error to a refusal with its place in the file. */
function refusalOf({ line, column, path, message }: JsonTextError, text: string, begin: TextPlace): Refusal {
  let start = 0
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1
  const way = path.length === 0 ? '' : ` (in ${path.join('.')})`
  const sentence = message.slice(`JSON line ${line}, column ${column}${way}: `.length)
  return invalidFile(placeIn(begin, text, start + column - 1), sentence + way)
}
