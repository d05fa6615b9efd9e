import Papa from 'papaparse'
import type { Refusal } from '../../../errors.ts'
import { type CsvRecord, CsvRecords } from './csv-records.ts'
import { emptyFile, invalidFile } from './file-refusal.ts'
import type { FileNotes, FileOptions, FileRow } from './file-row.ts'
import { fileText } from './file-text.ts'
import { TableRows } from './table-rows.ts'

export interface CsvOptions extends FileOptions {
  /** Whether cells that are JSON literals, objects or arrays become those values; else every cell is a string. Ids are always strings. */
  readonly infer: boolean
  /** The delimiter, overriding detection; see `isDelimiter`. */
  readonly delimiter?: string | undefined
  readonly notes?: FileNotes | undefined
}

/**
 * The rows of a CSV file, in batches of one piece of the file each: UTF-8, RFC 4180 quoting, LF or CRLF, the first record names the
 * columns, blank lines are skipped (interface 8.17). Cells are not trimmed; an empty one is "". The cells of `__flags__`, `__tags__` and
 * `__meta__` contain JSON text; an empty one omits the member. A header without rows is a table without rows; a file without a header is
 * refused (`empty_file`) unless that is allowed. Refuses, with the place, an invalid file (`invalid_file`) and one past the limits
 * (`limit_exceeded`).
 * The delimiter is that of the request; else that of a first line `sep=…`, as Excel writes and reads it; else a comma if the header has
 * one; else what papaparse detects: semicolons, tabs or bars.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  options: CsvOptions,
): AsyncGenerator<readonly FileRow[]> {
  const { infer, notes = { columns: [], renamed: [] }, allowEmpty } = options
  let table: Table | undefined
  let head: string[] = []
  /** Begins the table once enough of the file was read, with the part that was read. */
  function* open(isWhole: boolean): Generator<FileRow[]> {
    const start = startOf(head.join(''), options, isWhole)
    if (!start) return
    const records = new CsvRecords(options, start.delimiter, start.line)
    const rows = new TableRows<CsvRecord>({
      infer,
      notes,
      placeOf: (record, index) => records.placeOf(record, index),
      lonely: start.isTold ? undefined : unseparated,
    })
    table = { records, rows }
    let from = start.from
    for (const text of head) {
      if (from < text.length) yield rows.rows(records.push(text.slice(from)))
      from = Math.max(0, from - text.length)
    }
    head = []
  }
  for await (const { text } of fileText(chunks)) {
    if (table) {
      yield table.rows.rows(table.records.push(text))
      continue
    }
    head.push(text)
    yield* open(false)
  }
  if (!table) yield* open(true)
  if (table) yield table.rows.rows(table.records.finish())
  if (!table?.rows.hasHeader && !allowEmpty)
    throw emptyFile('The file has no header, which names the columns')
}

/** Whether the text may be a delimiter: any single character except a quote, line ends, and the byte order mark. */
export function isDelimiter(text: string): boolean {
  return [...text].length === 1 && !/["\r\n\ufeff]/.test(text)
}

interface Table {
  readonly records: CsvRecords
  readonly rows: TableRows<CsvRecord>
}

/** The start of the records, and their delimiter. */
interface CsvStart {
  readonly from: number
  readonly line: number
  readonly delimiter: string
  /** Whether the request or the file names the delimiter. */
  readonly isTold: boolean
}

/** Maximum length of a header in which the delimiter is searched. */
const MOST_OF_HEADER = 64 * 1024

/** Undefined until the header is complete or the file ends. */
function startOf(
  head: string,
  { delimiter: told }: Pick<CsvOptions, 'delimiter'>,
  isWhole: boolean,
): CsvStart | undefined {
  const isEnough = isWhole || head.length > MOST_OF_HEADER
  const line = lineOf(head)
  if (line === undefined && !isEnough && SEPARATOR_LINES.some((it) => it.startsWith(startAs(it, head))))
    return undefined
  const first = line ?? head
  const said = separatorOf(first.replace(/\r?\n$/, ''))
  if (said !== undefined) {
    if (told === undefined && !isDelimiter(said)) throw badSeparatorLine(said)
    return { from: first.length, line: 2, delimiter: told ?? said, isTold: true }
  }
  if (told !== undefined) return { from: 0, line: 1, delimiter: told, isTold: true }
  const end = endOfHeader(head)
  if (end === undefined && !isEnough) return undefined
  const delimiter = guessed(head.slice(0, end), head, isWhole)
  return { from: 0, line: 1, delimiter, isTold: false }
}

/** Excel's first line with the delimiter, also as programs write it that quote every cell. */
const SEPARATOR_LINES = ['sep=', '"sep='] as const

/** The part of a text that may be this beginning. */
function startAs(beginning: string, text: string): string {
  return text.slice(0, beginning.length).toLowerCase()
}

/** The delimiter that a first line names, if it does. */
function separatorOf(line: string): string | undefined {
  const [plain, quoted] = SEPARATOR_LINES
  if (startAs(plain, line) === plain) return line.slice(plain.length)
  // A column's name may begin like that; only a fully quoted line is not a name.
  const said = line.slice(quoted.length, -1)
  return startAs(quoted, line) === quoted &&
    line === `${line.slice(0, quoted.length)}${said}"` &&
    isDelimiter(said)
    ? said
    : undefined
}

function lineOf(text: string): string | undefined {
  const end = text.indexOf('\n')
  return end === -1 ? undefined : text.slice(0, end + 1)
}

/** The position after the first record's line end; undefined if the record is not complete. */
function endOfHeader(text: string): number | undefined {
  let isQuoted = false
  let isBlank = true
  for (let pos = 0; pos < text.length; pos++) {
    const char = text.charAt(pos)
    if (char === '\n' && !isQuoted && !isBlank) return pos + 1
    if (char === '"') isQuoted = !isQuoted
    if (char !== '\n' && char !== '\r') isBlank = false
  }
  return undefined
}

const QUOTED = /"[^"]*"?/g
const CANDIDATES = [';', '\t', '|']

/** The delimiter for a file that names none. Text in quotes does not count. */
function guessed(header: string, head: string, isWhole: boolean): string {
  const plain = header.replace(QUOTED, '')
  const candidates = CANDIDATES.filter((candidate) => plain.includes(candidate))
  if (plain.includes(',') || candidates.length === 0) return ','
  const { meta } = Papa.parse(sampleOf(head, header, isWhole), {
    delimitersToGuess: candidates,
    preview: FEW_RECORDS,
    skipEmptyLines: true,
  })
  return candidates.includes(meta.delimiter) ? meta.delimiter : ','
}

const FEW_RECORDS = 10
/** papaparse takes 30 ms for the worst text of this length, and far more for longer ones. */
const LONGEST_SAMPLE = 8192

/**
 * A sample from the beginning of the file without the last, incomplete record, if any is complete. If the header is longer than a sample,
 * it is the sample, with its quoted names emptied: a cut inside a quoted name would remove cells.
 */
function sampleOf(head: string, header: string, isWhole: boolean): string {
  if (header.length > LONGEST_SAMPLE) return header.replace(QUOTED, '""').slice(0, LONGEST_SAMPLE)
  const sample = head.slice(0, LONGEST_SAMPLE)
  if (isWhole && sample.length === head.length) return sample
  // A quoted cell may contain line breaks.
  const lines = sample.replace(QUOTED, (cell) => '"'.repeat(cell.length))
  return sample.slice(0, Math.max(lines.lastIndexOf('\n') + 1, header.length))
}

/** Why a header with one name probably has another delimiter. */
function unseparated(name: string): string | undefined {
  const held = CANDIDATES.find((candidate) => name.includes(candidate))
  if (held === undefined) return undefined
  const shown = held === '\t' ? 'a tab' : `"${held}"`
  const written = held === '\t' ? 'a tab as delimiter' : `delimiter=${held}`
  return (
    `The header is one column, ${JSON.stringify(name)}, and holds ${shown}. If that is what separates the cells, send ` +
    `${written}; if it is part of the name of one column, send a comma as delimiter.`
  )
}

function badSeparatorLine(said: string): Refusal {
  return invalidFile(
    { line: 1, column: 1 },
    `The line sep= names ${JSON.stringify(said)}, which is not one character that can separate cells; remove the line, or ` +
      'send delimiter= with the character.',
  )
}
