import { JsonTextError } from '../../../../json/json-text-error.ts'
import { type Json, type JsonObject, fromEntries, isAwkwardKey } from '../../../../json/json.ts'
import { parseJson } from '../../../../json/parse-json.ts'
import { CsvRecords, csvCellPlace, type CsvRecord } from './csv-records.ts'
import { type TextPlace, invalidFile } from './file-refusal.ts'
import { type FileLimits, type FileRow, MAX_ROW_DEPTH } from './file-row.ts'
import { fileText } from './file-text.ts'

export interface CsvOptions extends FileLimits {
  /** Whether cells that are JSON literals, objects or arrays become those values; else every cell is a string. Ids are strings always. */
  readonly infer: boolean
}

/**
 * The rows of a CSV file, in batches of what a stretch of it holds, if any: UTF-8, commas, RFC 4180 quoting, LF or CRLF, the first
 * record names the columns, blank lines are skipped (ruling 5.5). Cells are not trimmed; an empty one is "". The cells of
 * `__flags__`, `__tags__` and `__meta__` hold JSON text, an empty one leaves the member out. An empty file, or one with a
 * header only, has no rows. Refuses a bad file (`invalid_file`) and one past the limits (`limit_exceeded`) with the place.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  options: CsvOptions,
): AsyncGenerator<readonly FileRow[]> {
  const records = new CsvRecords(options)
  const table = new CsvTable(options.infer)
  for await (const { text } of fileText(chunks)) {
    yield table.rows(records.push(text))
  }
  yield table.rows(records.finish())
}

/** Metadata columns whose cells are JSON text whatever the other cells are. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['__flags__', '__tags__', '__meta__'])

/** Columns that hold ids, which stay strings under `infer`: `12345678e901` is a dedup id and no number. */
const ID_COLUMNS: ReadonlySet<string> = new Set(['__id__', '__dedup_id__', 'testcase_dedup_id'])

/** Turns records into rows, once the first of them has named the columns. */
class CsvTable {
  readonly #infer: boolean
  #columns: readonly string[] = []
  /** Whether cells need nothing but their name: no column is particular, and none would be misplaced in an object. */
  #plain = false

  constructor(infer: boolean) {
    this.#infer = infer
  }

  rows(records: readonly CsvRecord[]): FileRow[] {
    const rows: FileRow[] = []
    for (const record of records) {
      if (this.#columns.length === 0) this.#readHeader(record)
      else rows.push({ data: this.#plain ? this.#plainRow(record) : this.#row(record), line: record.line })
    }
    return rows
  }

  #readHeader(record: CsvRecord): void {
    const names = record.cells
    const seen = new Map<string, number>()
    for (const [index, name] of names.entries()) {
      const first = seen.get(name)
      if (name !== '' && first === undefined) {
        seen.set(name, index)
        continue
      }
      const place = csvCellPlace(record, index)
      if (name === '') throw invalidFile(place, `Column ${index + 1} of the header has no name; give it one.`)
      const twice = `The header names columns ${(first ?? 0) + 1} and ${index + 1} both ${JSON.stringify(name)}`
      throw invalidFile(place, `${twice}; rename one of them.`)
    }
    this.#columns = names
    this.#plain = !this.#infer && !names.some((name) => JSON_COLUMNS.has(name) || isAwkwardKey(name))
  }

  #plainRow({ cells }: CsvRecord): JsonObject {
    const columns = this.#columns
    const row: Record<string, string> = {}
    // a record has as many cells as the header
    for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = cells[index] ?? ''
    return row
  }

  #row(record: CsvRecord): JsonObject {
    const members: [string, Json][] = []
    for (const [index, name] of this.#columns.entries()) {
      const cell = record.cells[index] ?? ''
      if (!JSON_COLUMNS.has(name)) {
        members.push([name, this.#infer && !ID_COLUMNS.has(name) ? inferCell(cell) : cell])
      } else if (cell !== '') {
        members.push([name, jsonCell(cell, name, () => csvCellPlace(record, index))])
      }
    }
    return fromEntries(members)
  }
}

function jsonCell(cell: string, column: string, place: () => TextPlace): Json {
  try {
    return parseJson(cell, { maxDepth: MAX_ROW_DEPTH })
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    const remedy = 'Write JSON, or leave the cell empty.'
    throw invalidFile(place(), `The cell of column ${column} is no JSON text. ${error.message} ${remedy}`)
  }
}

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/**
 * What a cell says under `types=infer`: exactly `true`, `false`, `null` or a JSON number (kept digit for digit), or the
 * whole of a JSON object or array that can be kept. Anything else is a string: `TRUE`, ` 1`, `007`, `NaN`, `{a}`.
 */
function inferCell(cell: string): Json {
  if (!mayBeJson(cell)) return cell
  try {
    return parseJson(cell, { maxDepth: MAX_ROW_DEPTH })
  } catch (error) {
    if (error instanceof JsonTextError) return cell
    throw error
  }
}

const ARRAY = /^\[[ \t\r\n]*(?:[\]"{[\-0-9]|true|false|null)/
const OBJECT = /^\{[ \t\r\n]*["}]/

/** Tells ordinary text (`[sic]` too) apart, because an error thrown for each cell would take longer than all the rest. */
function mayBeJson(cell: string): boolean {
  const first = cell.charAt(0)
  if (first === '{') return cell.endsWith('}') && OBJECT.test(cell)
  if (first === '[') return cell.endsWith(']') && ARRAY.test(cell)
  return SCALAR.test(cell)
}
