import type { Refusal } from '../../../../errors.ts'
import { invalidFile, pastLimit, rowTooLarge } from './file-refusal.ts'
import type { FileLimits } from './file-row.ts'
import type { FileText } from './file-text.ts'
import { FILE_START, type TextPlace, placeIn } from './text-place.ts'

/** Whole records of a CSV file, fit to be cut into cells: quotes are where they belong and no record is ragged. */
export interface CsvRecords {
  /** The records one after the other; line ends outside of quotes are "\n", also after the last. */
  readonly text: string
  /** The line each record begins on; 0 for a blank line, which is none. */
  readonly lines: readonly number[]
}

/** What the last character was: `closing` a quote after an opening one, `return` a carriage return outside of quotes. */
type State = 'cell start' | 'plain' | 'quoted' | 'closing' | 'return'

const NEWLINE = 0x0a
const RETURN = 0x0d
const QUOTE = 0x22
const COMMA = 0x2c

/**
 * Cuts a CSV file (RFC 4180; lines end in LF or CRLF) where records end, looking at each character once. Refuses what
 * papaparse would mend in silence or see too late: a quote that is never closed or not at the edge of a cell, a lone
 * carriage return (the line end of very old files), a record longer or shorter than the header, all past the limits.
 */
export class CsvRecordCutter {
  readonly #limits: FileLimits
  #state: State = 'cell start'
  /** Cells of the header; 0 until it has ended. */
  #columns = 0
  /** What there is of the record that has not ended: its text (only appended to, which copies nothing) and cells. */
  #pending = ''
  #pendingBytes = 0
  #cells = 1
  /** The line that is being read, and the one the record began on. */
  #line = 1
  #recordLine = 1
  /** Where the text so far ends, and where the last quoted cell and the first cell too many began. */
  #end = FILE_START
  #opened = FILE_START
  #extra = FILE_START

  constructor(limits: FileLimits) {
    this.#limits = limits
  }

  /** The records that end in the next stretch of the file. */
  push({ text, place, end }: FileText): CsvRecords {
    const { maxRowBytes, maxColumns } = this.#limits
    const lines: number[] = []
    // locals, because fields would cost more than the rest of the loop
    let state = this.#state
    let cells = this.#cells
    let line = this.#line
    // the ended records' text up to `from`; where the record that is being read and the last quoted cell begin
    let ended = ''
    let from = 0
    let start = 0
    let opened = -1
    for (let pos = 0; pos < text.length; pos++) {
      const char = text.charCodeAt(pos)
      if (state === 'quoted') {
        if (char === QUOTE) state = 'closing'
        else if (char === NEWLINE) line++
      } else if (char === NEWLINE) {
        let length = pos - start + (start === 0 ? this.#pending.length : 0)
        if (state === 'return') {
          length--
          if (pos === 0) this.#pending = this.#pending.slice(0, -1)
          else ended += text.slice(from, pos - 1)
          from = pos
        }
        if (length > 0) this.#checkCells(cells, text, place, pos)
        if (length * 3 > maxRowBytes) this.#checkSize(text, start, pos)
        lines.push(length > 0 ? this.#recordLine : 0)
        this.#recordLine = ++line
        start = pos + 1
        cells = 1
        state = 'cell start'
      } else if (state === 'return') {
        throw loneReturn(placeIn(place, text, pos))
      } else if (char === COMMA) {
        state = 'cell start'
        if (++cells > maxColumns) throw this.#tooManyCells(placeIn(place, text, pos + 1))
        if (cells === this.#columns + 1) this.#extra = placeIn(place, text, pos + 1)
      } else if (char === QUOTE) {
        if (state === 'plain') throw quoteInPlainCell(placeIn(place, text, pos))
        if (state === 'cell start') opened = pos
        state = 'quoted'
      } else {
        if (state === 'closing' && char !== RETURN) throw textAfterQuote(placeIn(place, text, pos))
        state = char === RETURN ? 'return' : 'plain'
      }
    }
    this.#state = state
    this.#cells = cells
    this.#line = line
    this.#end = end
    if (opened !== -1) this.#opened = placeIn(place, text, opened)
    this.#pendingBytes = this.#checkSize(text, start, text.length)
    if (start === 0) {
      this.#pending += text
      return { text: '', lines }
    }
    const records = this.#pending + ended + text.slice(from, start)
    this.#pending = text.slice(start)
    return { text: records, lines }
  }

  /** The last record of a file that does not end with a line end. */
  finish(): CsvRecords {
    if (this.#state === 'quoted') throw neverClosed(this.#opened)
    if (this.#state === 'return') throw loneReturn(this.#end)
    if (this.#pending === '') return { text: '', lines: [] }
    return this.push({ text: '\n', place: this.#end, end: this.#end })
  }

  /** Refuses a record that has ended at `pos` with more or fewer cells than the header, which is the first to come. */
  #checkCells(cells: number, text: string, place: TextPlace, pos: number): void {
    if (this.#columns === 0) this.#columns = cells
    const there = `The row has ${cells} ${cells === 1 ? 'cell' : 'cells'} and the header ${this.#columns}`
    if (cells > this.#columns) {
      throw invalidFile(
        this.#extra,
        `${there}; remove what is too much from here on, or quote cells that hold commas.`,
      )
    }
    if (cells < this.#columns) {
      throw invalidFile(
        placeIn(place, text, pos),
        `${there}; add the missing cells (an empty one is a comma) before here.`,
      )
    }
  }

  /** The bytes of the record that goes on (or ends) at `to`; `start` is 0 if it began in an earlier stretch. */
  #checkSize(text: string, start: number, to: number): number {
    const bytes = (start === 0 ? this.#pendingBytes : 0) + Buffer.byteLength(text.slice(start, to))
    if (bytes <= this.#limits.maxRowBytes) return bytes
    const place = { line: this.#recordLine, column: 1 }
    const { line, column } = this.#opened
    const hint = ` Is the quote that opens a cell at line ${line}, column ${column} never closed?`
    throw rowTooLarge(place, this.#limits.maxRowBytes, this.#state === 'quoted' ? hint : '')
  }

  #tooManyCells(place: TextPlace): Refusal {
    const { maxColumns } = this.#limits
    if (this.#columns > 0) {
      return invalidFile(place, `The row has more than ${maxColumns} cells and the header ${this.#columns}.`)
    }
    return pastLimit(place, `The header has more columns than the limit of ${maxColumns}; send fewer.`)
  }
}

function loneReturn(after: TextPlace): Refusal {
  return invalidFile(
    { line: after.line, column: after.column - 1 },
    'A carriage return stands alone; end lines with LF or CRLF, and put a cell that holds one in quotes.',
  )
}

function quoteInPlainCell(place: TextPlace): Refusal {
  return invalidFile(
    place,
    'A quote stands inside a cell that does not begin with one; put the whole cell in quotes and double this one.',
  )
}

function textAfterQuote(place: TextPlace): Refusal {
  return invalidFile(
    place,
    'Something stands between the closing quote of a cell and the next comma; double a quote that belongs to the text.',
  )
}

function neverClosed(place: TextPlace): Refusal {
  return invalidFile(place, 'The quote that opens this cell is never closed; close it, or remove it.')
}
