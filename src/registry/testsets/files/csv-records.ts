import Papa from 'papaparse'
import type { Refusal } from '../../../errors.ts'
import { type TextPlace, invalidFile, pastLimit, placeIn, rowTooLarge } from './file-refusal.ts'
import type { FileLimits } from './file-row.ts'

/** A record of a CSV file. */
export interface CsvRecord {
  readonly cells: readonly string[]
  /** The record's text in the file, without its line end. */
  readonly text: string
  /** The record's first line. */
  readonly line: number
}

/**
 * Reads the records of a CSV file (RFC 4180; lines end in LF or CRLF) in one pass. papaparse splits the text into cells. Errors that it
 * would fix silently are refused: a quote inside a cell, spaces around quotes, a lone carriage return (the line end of very old files), a
 * record longer or shorter than the header. A record past the limits is refused before it grows.
 * `docs/decisions/0006-papaparse-reads-stretches.md` says why papaparse does not do the streaming.
 */
export class CsvRecords {
  readonly #limits: FileLimits
  readonly #delimiter: string
  readonly #parser: Papa.Parser
  /** Cells of the header; 0 until it is complete. */
  #columns = 0
  /** The read part of an unfinished record, and its bytes. */
  #unfinished: CsvRecord
  #bytes = 0
  /**
   * Text to put before the next piece, so that papaparse continues in the unfinished cell: a letter for a plain cell, a quote for an open
   * quoted one, two quotes if its last character is a quote (which closes the cell unless another quote follows).
   */
  #resume: '' | 'x' | 'y' | '"' | '""' = ''
  readonly #letter: 'x' | 'y'
  /** A carriage return at the end of the last piece, which is a line end only with the next character. */
  #held = ''

  /** `delimiter` is one character; `line` is the number of the first line that is read here. */
  constructor(limits: FileLimits, delimiter = ',', line = 1) {
    this.#limits = limits
    this.#delimiter = delimiter
    this.#parser = new Papa.Parser({ delimiter, newline: '\n' })
    this.#letter = delimiter === 'x' ? 'y' : 'x'
    this.#unfinished = { cells: [], text: '', line }
  }

  /** The place of a record's cell in the file, computed only for a refusal. */
  placeOf({ cells, text, line }: CsvRecord, index: number): TextPlace {
    const delimiter = this.#delimiter
    const offset = index === 0 ? 0 : endOfCells(text, 0, cells.slice(0, index), delimiter) + delimiter.length
    return placeIn({ line, column: 1 }, text, offset)
  }

  /** The records that end in the next piece of the file; blank lines are skipped. */
  push(stretch: string): CsvRecord[] {
    const joined = this.#resume + this.#held + stretch
    this.#held = joined.endsWith('\r') ? '\r' : ''
    const text = joined.slice(0, joined.length - this.#held.length)
    const { data, errors }: { data: string[][]; errors: Papa.ParseError[] } = this.#parser.parse(
      text,
      0,
      false,
    )
    const isOpen = errors.at(-1)?.code === 'MissingQuotes'
    const records: CsvRecord[] = []
    let from = 0
    let start = this.#resume.length
    for (const [index, cells] of data.entries()) {
      const end = endOfCells(text, from, cells, this.#delimiter)
      const isLast = index === data.length - 1
      const lineEnd = text.startsWith('\r\n', end) ? 2 : text.charAt(end) === '\n' ? 1 : 0
      if (isLast ? end < text.length : lineEnd === 0) throw this.#fault(text, start, end)
      const last = cells.at(-1) ?? ''
      // papaparse leaves doubled quotes in an unclosed cell, and the carriage return of a line end in a plain cell
      if (isLast && isOpen) cells[cells.length - 1] = last.replaceAll('""', '"')
      if (lineEnd === 2 && text.charAt(end - 1) !== '"') cells[cells.length - 1] = last.slice(0, -1)
      this.#extend(text.slice(start, end), cells, isLast && isOpen)
      if (isLast) {
        this.#resume = isOpen ? '"' : text.endsWith('"') ? '""' : last === '' ? '' : this.#letter
      } else {
        const record = this.#end()
        if (record.text !== '') records.push(record)
        from = start = end + lineEnd
      }
    }
    return records
  }

  /** The last record of a file without a final line end. */
  finish(): CsvRecord[] {
    const { cells, text } = this.#unfinished
    if (this.#resume === '"') {
      const sentence = 'The quote that opens this cell is never closed; close it, or remove it.'
      throw invalidFile(this.placeOf(this.#unfinished, cells.length - 1), sentence)
    }
    if (this.#held !== '') throw this.#fault(this.#held, 0, 0)
    return text === '' ? [] : this.push('\n')
  }

  /** Adds papaparse's output to the unfinished record. */
  #extend(piece: string, read: readonly string[], isOpen: boolean): void {
    const { maxRowBytes, maxColumns } = this.#limits
    const { cells, text, line } = this.#unfinished
    const rest = (read[0] ?? '').slice(this.#resume === this.#letter ? 1 : 0)
    const all =
      cells.length === 0 ? read : [...cells.slice(0, -1), (cells.at(-1) ?? '') + rest, ...read.slice(1)]
    const record = { cells: all, text: text + piece, line }
    this.#unfinished = record
    if (all.length > maxColumns) throw this.#tooManyCells(this.placeOf(record, maxColumns))
    this.#bytes += Buffer.byteLength(piece)
    if (this.#bytes <= maxRowBytes) return
    const opened = this.placeOf(record, all.length - 1)
    const hint = ` Is the quote that opens a cell at line ${opened.line}, column ${opened.column} never closed?`
    throw rowTooLarge({ line, column: 1 }, maxRowBytes, isOpen ? hint : '')
  }

  /** The finished record. Refuses one with more or fewer cells than the header, which is the first record. */
  #end(): CsvRecord {
    const record = this.#unfinished
    const { cells, text, line } = record
    const end = placeIn({ line, column: 1 }, text, text.length)
    this.#unfinished = { cells: [], text: '', line: end.line + 1 }
    this.#bytes = 0
    this.#resume = ''
    if (text === '') return record
    if (this.#columns === 0) this.#columns = cells.length
    const count = cells.length
    const there = `The row has ${count} ${count === 1 ? 'cell' : 'cells'} and the header ${this.#columns}`
    if (count > this.#columns) {
      const remedy = `remove what is too much from here on, or quote cells that hold ${nameOf(this.#delimiter)}.`
      throw invalidFile(this.placeOf(record, this.#columns), `${there}; ${remedy}`)
    }
    if (count < this.#columns) {
      throw invalidFile(end, `${there}; add the missing cells before here.`)
    }
    return record
  }

  #tooManyCells(place: TextPlace): Refusal {
    const { maxColumns } = this.#limits
    if (this.#columns > 0) {
      return invalidFile(place, `The row has more than ${maxColumns} cells and the header ${this.#columns}.`)
    }
    return pastLimit(place, `The header has more columns than the limit of ${maxColumns}; send fewer.`)
  }

  /** The refusal of the character at `offset` of a text in which the record begins or continues at `start`. */
  #fault(text: string, start: number, offset: number): Refusal {
    const { text: before, line } = this.#unfinished
    const record = before + text.slice(start, offset)
    return invalidFile(
      placeIn({ line, column: 1 }, record, record.length),
      text.charAt(offset) === '\r'
        ? 'A carriage return stands alone; end lines with LF or CRLF, and put a cell that holds one in quotes.'
        : text.charAt(offset) === '"'
          ? 'A quote stands inside a cell that does not begin with one; put the whole cell in quotes and double this one.'
          : 'Something stands between the closing quote of a cell and the end of the cell; double a quote that belongs to the text.',
    )
  }
}

/** The end of the cells that begin at `from`, or before it the first invalid character. */
function endOfCells(text: string, from: number, cells: readonly string[], delimiter: string): number {
  let pos = from
  for (const [index, cell] of cells.entries()) {
    if (index > 0) {
      if (!text.startsWith(delimiter, pos)) return pos
      pos += delimiter.length
    }
    if (text.charAt(pos) === '"') {
      pos = endOfQuoted(text, pos)
    } else {
      const strange = cell.search(/["\r]/)
      if (strange !== -1) return pos + strange
      pos += cell.length
    }
  }
  return pos
}

/** The position after the quote that closes the cell, or the end of the text if none does. */
function endOfQuoted(text: string, from: number): number {
  for (let pos = from + 1; ; pos += 2) {
    pos = text.indexOf('"', pos)
    if (pos === -1) return text.length
    if (text.charAt(pos + 1) !== '"') return pos + 1
  }
}

/** The delimiter's name in a sentence. */
function nameOf(delimiter: string): string {
  return NAMES[delimiter] ?? JSON.stringify(delimiter)
}

const NAMES: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
}
