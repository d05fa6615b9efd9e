import { type Json, type JsonObject, getKey, stringifyJson } from '../../base/json.ts'

export interface CsvLineOptions {
  /**
   * Prefixes an apostrophe to cells that a spreadsheet would run as a formula: those that begin with = + - @,
   * a tab or a carriage return and are no number. Such a cell reads back unchanged only if its row has a
   * dedup id; see `isWrittenAs`.
   */
  readonly escapeFormulas: boolean
}

/** The header line of a CSV file, ended by CRLF. */
export function csvHeader(columns: readonly string[], options: CsvLineOptions = AS_IT_IS): string {
  return line(columns, options)
}

/**
 * One row as a CSV line, ended by CRLF (RFC 4180; quotes only where needed). Strings are written unchanged;
 * booleans and numbers as in JSON; arrays and objects as compact JSON; null and missing members as an empty
 * cell. `csvRows` reads strings back unchanged. With `infer` it restores other values too, but a string that
 * reads as JSON (`1`, `true`, `{"a":1}`) becomes that value, and null and missing members become the empty
 * string.
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

/** The same for a list of values, one per column. */
export function csvRow(values: readonly (Json | undefined)[], options: CsvLineOptions = AS_IT_IS): string {
  return line(values.map(cellText), options)
}

const AS_IT_IS: CsvLineOptions = { escapeFormulas: false }

/** Whether a download writes the value as this cell, with or without formula escaping. */
export function isWrittenAs(value: Json | undefined, cell: string): boolean {
  const text = cellText(value)
  return cell === text || cell === escapedFormula(text)
}

/** The text of a cell before quoting. */
function cellText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : stringifyJson(value)
}

function line(cells: readonly string[], options: CsvLineOptions): string {
  // an empty line would be read as no row
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

// U+FEFF at the start of a file would be taken for a byte order mark
const NEEDS_QUOTES = /[",\r\n\ufeff]/

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
