import {
  JsonTextError,
  type Json,
  type JsonObject,
  fromEntries,
  isAwkwardKey,
  parseJson,
} from '../../../base/json.ts'
import { DEDUP_COLUMN, METADATA_COLUMNS } from '../import/input-row.ts'
import { type TextPlace, invalidFile } from './file-refusal.ts'
import { type FileNotes, type FileRow, MAX_ROW_DEPTH } from './file-row.ts'

/** A row of a table: its cells as texts, and as values if the file has types. */
export interface TableRecord {
  readonly cells: readonly string[]
  readonly values?: readonly Json[]
  /** The row's first line. */
  readonly line: number
}

export interface TableOptions<R extends TableRecord> {
  /** Whether cells become the values that they have or look like; else every cell is a string. Ids are always strings. */
  readonly infer: boolean
  readonly notes: FileNotes
  /** The place of a record's cell in the file; called only to refuse. */
  readonly placeOf: (record: R, index: number) => TextPlace
  /** Why a header with one column is probably a mistake, if it is. */
  readonly lonely?: (name: string) => string | undefined
}

/** Metadata columns whose cells are always JSON text. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['__flags__', '__tags__', '__meta__'])

/** Columns of ids, which stay strings under `infer`: `12345678e901` is a dedup id, not a number. */
const ID_COLUMNS: ReadonlySet<string> = new Set(['__id__', '__dedup_id__', DEDUP_COLUMN])

const BESIDE_DATA: ReadonlySet<string> = new Set([...METADATA_COLUMNS, DEDUP_COLUMN])

/**
 * Converts the records of a table to rows; the first record names the columns. Names lose white space and invisible characters at their
 * ends, and are normalised to Unicode's composed form (NFC), so that a column has one name whichever program wrote the file. Last columns
 * without a name, as spreadsheets write them, are dropped; a non-empty cell in one is refused.
 */
export class TableRows<R extends TableRecord> {
  readonly #options: TableOptions<R>
  #columns: readonly string[] = []
  /** Whether cells need no special treatment: there is no metadata column, and no name that an object would reorder. */
  #isPlain = false
  /** Whether the table has a column of ids. */
  #hasIds = false

  constructor(options: TableOptions<R>) {
    this.#options = options
  }

  /** Whether the header was read. */
  get hasHeader(): boolean {
    return this.#columns.length > 0
  }

  rows(records: readonly R[]): FileRow[] {
    const rows: FileRow[] = []
    for (const record of records) {
      if (!this.hasHeader) {
        this.#readHeader(record)
        continue
      }
      if (record.cells.length > this.#columns.length) this.#checkNameless(record)
      const data = this.#isPlain ? this.#plainRow(record) : this.#row(record)
      const { line, cells: texts } = record
      rows.push(this.#hasIds ? { data, line, cells: { columns: this.#columns, texts } } : { data, line })
    }
    return rows
  }

  #readHeader(record: R): void {
    const { placeOf, notes, infer, lonely } = this.#options
    const names = record.cells.map(columnName)
    while (names.length > 1 && names.at(-1) === '') names.pop()
    const seen = new Map<string, number>()
    for (const [index, name] of names.entries()) {
      const first = seen.get(name)
      if (name !== '' && first === undefined) {
        seen.set(name, index)
        continue
      }
      const place = placeOf(record, index)
      if (name === '') throw invalidFile(place, `Column ${index + 1} of the header has no name; give it one.`)
      const twice = `The header names columns ${(first ?? 0) + 1} and ${index + 1} both ${JSON.stringify(name)}`
      throw invalidFile(place, `${twice}; rename one of them.`)
    }
    const problem = names.length === 1 ? lonely?.(names[0] ?? '') : undefined
    if (problem !== undefined) throw invalidFile(placeOf(record, 0), problem)
    this.#columns = names
    this.#isPlain = !infer && !names.some((name) => JSON_COLUMNS.has(name) || isAwkwardKey(name))
    this.#hasIds = names.some((name) => ID_COLUMNS.has(name))
    for (const name of names) if (!BESIDE_DATA.has(name)) notes.columns.push(name)
    let told = 0
    for (const [index, to] of names.entries()) {
      const from = record.cells[index] ?? ''
      told += from.length
      if (from !== to && told <= MOST_TOLD) notes.renamed.push({ from, to })
    }
  }

  /** The record has more cells than there are names; these must be empty. */
  #checkNameless(record: R): void {
    const { cells } = record
    for (let index = this.#columns.length; index < cells.length; index++) {
      if (cells[index] === '') continue
      const sentence = `Column ${index + 1} has no name in the header, and this cell of it holds something; name it, or empty it.`
      throw invalidFile(this.#options.placeOf(record, index), sentence)
    }
  }

  #plainRow({ cells }: R): JsonObject {
    const columns = this.#columns
    const row: Record<string, string> = {}
    for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = cells[index] ?? ''
    return row
  }

  #row(record: R): JsonObject {
    const { infer, placeOf } = this.#options
    const members: [string, Json][] = []
    for (const [index, name] of this.#columns.entries()) {
      const cell = record.cells[index] ?? ''
      if (!JSON_COLUMNS.has(name)) {
        const value = infer && !ID_COLUMNS.has(name) ? (record.values?.[index] ?? inferCell(cell)) : cell
        members.push([name, value])
      } else if (cell !== '') {
        members.push([name, jsonCell(cell, name, () => placeOf(record, index))])
      }
    }
    return fromEntries(members)
  }
}

/** Maximum characters of names that are reported; there may be ten thousand names, each as long as a row. */
const MOST_TOLD = 16 * 1024

/** A column's name in its stored form. */
function columnName(cell: string): string {
  let [from, to] = [0, cell.length]
  while (from < to && isUnseen(cell, from)) from++
  while (to > from && isUnseen(cell, to - 1)) to--
  return cell.slice(from, to).normalize('NFC')
}

/** White space of any width, including none, and marks that only control the layout of text. */
const UNSEEN = /[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/

function isUnseen(text: string, at: number): boolean {
  return UNSEEN.test(text.charAt(at))
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
 * The value of a cell under `types=infer`: exactly `true`, `false`, `null` or a JSON number (kept digit for digit), or a complete JSON
 * object or array that can be stored. Anything else is a string: `TRUE`, ` 1`, `007`, `NaN`, `{a}`.
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

/** Recognises ordinary text (also `[sic]`), because throwing a parser's error for each cell would dominate the time. */
function mayBeJson(cell: string): boolean {
  const first = cell.charAt(0)
  if (first === '{') return cell.endsWith('}') && OBJECT.test(cell)
  if (first === '[') return cell.endsWith(']') && ARRAY.test(cell)
  return SCALAR.test(cell)
}
