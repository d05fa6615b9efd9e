import { stringifyJson } from '../../../json/stringify-json.ts'
import { csvCell, type CsvLineOptions } from '../import/files/csv-line.ts'
import type { PieceWriter } from './piece-writer.ts'
import { ESCAPED, MISSING, NEEDS_QUOTES, type RowCells, VALUE } from './row-cells.ts'

/** Writes a member of a row as a cell of CSV, just as `csvCell` has it. */
export function writeCsvCell(
  writer: PieceWriter,
  cells: RowCells,
  number: number,
  options: CsvLineOptions,
): void {
  const kind = cells.kinds[number] ?? MISSING
  if (kind >= VALUE || options.escapeFormulas) return writer.text(csvCell(cells.valueOf(number), options))
  const start = cells.starts[number] ?? 0
  const end = cells.ends[number] ?? 0
  const quote = kind & NEEDS_QUOTES ? '"' : ''
  writer.text(quote)
  if (kind & ESCAPED) writer.copyUnescaped(cells.bytes, start, end)
  else writer.copy(cells.bytes, start, end)
  writer.text(quote)
}

/** Writes a member of a row that is not missing as JSON: its name, a colon, and what `stringifyJson` has. */
export function writeJsonMember(writer: PieceWriter, cells: RowCells, number: number): void {
  const name = cells.names[number] ?? NO_NAME
  if (cells.kinds[number] === VALUE) {
    writer.copy(name, 0, name.length)
    writeJsonCell(writer, cells, number)
  } else
    writer.copy(cells.bytes, (cells.starts[number] ?? 0) - 1 - name.length, (cells.ends[number] ?? 0) + 1)
}

const NO_NAME = Buffer.alloc(0)

/** The same without the name. */
export function writeJsonCell(writer: PieceWriter, cells: RowCells, number: number): void {
  if (cells.kinds[number] === VALUE) writer.text(stringifyJson(cells.valueOf(number)))
  else writer.copy(cells.bytes, (cells.starts[number] ?? 0) - 1, (cells.ends[number] ?? 0) + 1)
}
