import { type Json, type JsonObject, getKey } from '../../../json/json.ts'
import { stringifyJson } from '../../../json/stringify-json.ts'

export interface CsvLineOptions {
  /**
   * Whether a cell that a spreadsheet would take for a formula (one that begins with = + - @, a tab or a carriage return,
   * and is no number) gets an apostrophe before it. Such a cell reads back as it was only where the row is known by its dedup id; see
   * `isWrittenAs`.
   */
  readonly escapeFormulas: boolean
}

/** The first line of a CSV file: the names of the columns, ended by CRLF. */
export function csvHeader(columns: readonly string[], options: CsvLineOptions = AS_IT_IS): string {
  return line(columns, options)
}

/**
 * The line of one row, ended by CRLF: RFC 4180, quotes only where they are needed. Strings stand as they are, true, false
 * and numbers as JSON writes them, objects and arrays as compact JSON; a member that is missing or null is an empty cell.
 * So `csvRows` reads strings back, and with `infer` everything else, save that a string which reads as JSON (`1`, `true`,
 * `{"a":1}`) becomes that value, and null and missing members the empty string.
 */
export function csvLine(
  columns: readonly string[],
  data: JsonObject,
  options: CsvLineOptions = AS_IT_IS,
): string {
  return csvRow(
    columns.map((column) => getKey(data, column)),
    options,
  )
}

/** The same for the values of a row, one a column. */
export function csvRow(values: readonly (Json | undefined)[], options: CsvLineOptions = AS_IT_IS): string {
  return line(values.map(cellText), options)
}

const AS_IT_IS: CsvLineOptions = { escapeFormulas: false }

/** Whether a download writes the value as this cell, with or without its formulas made harmless. */
export function isWrittenAs(value: Json | undefined, cell: string): boolean {
  const text = cellText(value)
  return cell === text || cell === escapedFormula(text)
}

/** What the cell of a value says, before it is quoted. */
function cellText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : stringifyJson(value)
}

function line(cells: readonly string[], options: CsvLineOptions): string {
  // a line with nothing on it would be read as no row at all
  if (cells.length === 1 && cells[0] === '') return '""\r\n'
  let text = ''
  for (const cell of cells) text += `,${asWritten(cell, options)}`
  return `${text.slice(1)}\r\n`
}

function asWritten(cell: string, { escapeFormulas }: CsvLineOptions): string {
  return quoted(escapeFormulas ? escapedFormula(cell) : cell)
}

const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

function escapedFormula(cell: string): string {
  return FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell
}

// at the beginning of a file U+FEFF would be taken for a byte order mark
const NEEDS_QUOTES = /[",\r\n\ufeff]/

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
