import Papa from 'papaparse'
import { JsonTextError } from '../../../../json/json-text-error.ts'
import { type Json, type JsonObject, fromEntries, isAwkwardKey } from '../../../../json/json.ts'
import { parseJson } from '../../../../json/parse-json.ts'
import { csvCellPlace } from './csv-cell-place.ts'
import { CsvRecordCutter, type CsvRecords } from './csv-record-cutter.ts'
import { invalidFile } from './file-refusal.ts'
import { type FileLimits, type FileRow, MAX_ROW_DEPTH } from './file-row.ts'
import { fileText } from './file-text.ts'
import { inferCell } from './infer-cell.ts'
import type { TextPlace } from './text-place.ts'

export interface CsvOptions extends FileLimits {
  /** Whether cells that are JSON literals, objects or arrays become those values; else every cell is a string. Ids are strings always. */
  readonly infer: boolean
}

/**
 * The rows of a CSV file, in batches of what a stretch of it holds: UTF-8, commas, RFC 4180 quoting, LF or CRLF, the first
 * record names the columns, blank lines are skipped (ruling 5.5). Cells are not trimmed; an empty one is "". The cells of
 * `__flags__`, `__tags__` and `__meta__` hold JSON text, an empty one leaves the member out. An empty file, or one with a
 * header only, has no rows. Refuses a bad file (`invalid_file`) and one past the limits (`limit_exceeded`) with the place.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  options: CsvOptions,
): AsyncGenerator<readonly FileRow[]> {
  const cutter = new CsvRecordCutter(options)
  const table = new CsvTable(options.infer)
  for await (const stretch of fileText(chunks)) {
    const rows = table.rows(cutter.push(stretch))
    if (rows.length > 0) yield rows
  }
  const rows = table.rows(cutter.finish())
  if (rows.length > 0) yield rows
}

/** Metadata columns whose cells are JSON text whatever the other cells are. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['__flags__', '__tags__', '__meta__'])

/** Columns that hold ids, which stay strings under `infer`: `12345678e901` is a dedup id and no number. */
const ID_COLUMNS: ReadonlySet<string> = new Set(['__id__', '__dedup_id__', 'testcase_dedup_id'])

/** Turns records into rows, once the first of them has named the columns. */
class CsvTable {
  readonly #infer: boolean
  readonly #parser = new Papa.Parser({ delimiter: ',', newline: '\n' })
  #columns: readonly string[] = []
  /** Whether cells need nothing but their name: no column is particular, and none would be misplaced in an object. */
  #plain = false

  constructor(infer: boolean) {
    this.#infer = infer
  }

  rows(records: CsvRecords): FileRow[] {
    if (records.lines.length === 0) return []
    // the cutter has seen to it that nothing is left to mend, so the errors it lists are none
    const { data }: { data: string[][] } = this.#parser.parse(records.text, 0, false)
    const rows: FileRow[] = []
    for (const [record, line] of records.lines.entries()) {
      const cells = data[record]
      if (line === 0 || cells === undefined) continue
      if (this.#columns.length === 0) this.#readHeader(cells, records, record)
      else rows.push({ data: this.#plain ? this.#plainRow(cells) : this.#row(cells, records, record), line })
    }
    return rows
  }

  #readHeader(names: readonly string[], records: CsvRecords, record: number): void {
    const seen = new Map<string, number>()
    for (const [index, name] of names.entries()) {
      const first = seen.get(name)
      if (name !== '' && first === undefined) {
        seen.set(name, index)
        continue
      }
      const place = csvCellPlace(records, record, index)
      if (name === '') throw invalidFile(place, `Column ${index + 1} of the header has no name; give it one.`)
      const twice = `The header names columns ${(first ?? 0) + 1} and ${index + 1} both ${JSON.stringify(name)}`
      throw invalidFile(place, `${twice}; rename one of them.`)
    }
    this.#columns = names
    this.#plain = !this.#infer && !names.some((name) => JSON_COLUMNS.has(name) || isAwkwardKey(name))
  }

  #plainRow(cells: readonly string[]): JsonObject {
    const columns = this.#columns
    const row: Record<string, string> = {}
    // the cutter has counted the cells, so there is one for every column
    for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = cells[index] ?? ''
    return row
  }

  #row(cells: readonly string[], records: CsvRecords, record: number): JsonObject {
    const members: [string, Json][] = []
    for (const [index, name] of this.#columns.entries()) {
      const cell = cells[index] ?? ''
      if (!JSON_COLUMNS.has(name)) {
        members.push([name, this.#infer && !ID_COLUMNS.has(name) ? inferCell(cell) : cell])
      } else if (cell !== '') {
        members.push([name, jsonCell(cell, name, () => csvCellPlace(records, record, index))])
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
