import type { Refusal } from '../../../../errors.ts'
import { JsonTextError } from '../../../../json/json-text-error.ts'
import type { JsonObject } from '../../../../json/json.ts'
import { parseJson } from '../../../../json/parse-json.ts'
import { MOST_ROW_VALUES } from '../input-row.ts'
import { type TextPlace, invalidFile, pastLimit, placeIn, rowTooLarge } from './file-refusal.ts'

/**
 * One row of an uploaded file. Its texts may be slices of a larger one that live as long as they do: who keeps a part of
 * many rows (and not the rows) copies it.
 */
export interface FileRow {
  /** The row's members, top-level keys in the file's order; metadata columns (`__id__` and the like) among them. */
  readonly data: JsonObject
  /** The line of the file the row begins on, counted from 1. */
  readonly line: number
  /** How the cells stand in a table whose rows bring ids; see `keepStoredValues`. */
  readonly cells?: RowCells
}

/** The cells of a row of a table as texts, one for each column at least. */
export interface RowCells {
  readonly columns: readonly string[]
  readonly texts: readonly string[]
}

/** What reading a file came to beside its rows. */
export interface FileNotes {
  /** The columns that the header of a table names, those of metadata left out; it may have no rows. */
  readonly columns: string[]
  /** The names that are not as they stand in the file. */
  readonly renamed: RenamedColumn[]
}

/** A column whose name lost invisible characters at its ends, or was composed anew. */
export interface RenamedColumn {
  readonly from: string
  readonly to: string
}

/** What a reader of files refuses to take in, whatever the file's size. */
export interface FileLimits {
  /** The most bytes of the file one row may take; what is held in memory grows with this and not with the file. */
  readonly maxRowBytes: number
  /** The most columns of the header or members of one row. */
  readonly maxColumns: number
}

/** How a file is read, whatever its format. */
export interface FileOptions extends FileLimits {
  /** Whether a file that holds nothing means no rows. */
  readonly allowEmpty?: boolean | undefined
}

/** How many arrays and objects of a row may be open at once, the row among them. */
export const MAX_ROW_DEPTH = 200

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
