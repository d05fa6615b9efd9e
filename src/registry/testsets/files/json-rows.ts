import {
  FILE_START,
  type TextPlace,
  emptyFile,
  invalidFile,
  placeIn,
  rowTooLarge,
  strangeAt,
} from './file-refusal.ts'
import { type FileLimits, type FileOptions, type FileRow, rowOfJson } from './file-row.ts'
import { type FileText, fileText } from './file-text.ts'

/**
 * Reads the rows of a JSON file in batches: one array of objects (interface 8.17). Numbers and keys stay
 * exactly as written. Refuses, with the place, a malformed file (`invalid_file`: any other value, and what
 * `parseJson` refuses) and one past the limits (`limit_exceeded`), and an empty file (`empty_file`) unless
 * that is allowed.
 */
export async function* jsonRows(
  chunks: AsyncIterable<Buffer>,
  options: FileOptions,
): AsyncGenerator<readonly FileRow[]> {
  const cutter = new JsonRowCutter(options)
  for await (const stretch of fileText(chunks)) {
    yield cutter.push(stretch)
  }
  if (cutter.isBlank) {
    if (!options.allowEmpty) throw emptyFile('The file holds nothing, not even the brackets of an array')
  } else {
    cutter.finish()
  }
}

/**
 * What is expected next: the array, its first row or end, the rest of a row, a comma or the end, another row,
 * nothing.
 */
type State = 'array' | 'first' | 'row' | 'after' | 'next' | 'end'

/** The advice for an unexpected character in each state. */
const REMEDIES: Readonly<Record<Exclude<State, 'row'>, string>> = {
  array: 'send one array of objects, such as [{"question": "…"}] (one object a line is the format jsonl).',
  first: 'every row must be an object in braces, such as {"question": "…"}.',
  after: 'write "," or "]" after a row.',
  next: 'after a comma there must be another row, an object in braces, such as {"question": "…"}.',
  end: 'remove everything after the "]" that ends the array.',
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Splits the array at row boundaries, reading each character once. The parser handles the inside of a row.
 */
class JsonRowCutter {
  readonly #limits: FileLimits
  #state: State = 'array'
  #line = 1
  #end = FILE_START
  /** The unfinished row: its text so far, its start, and its nesting. */
  #pending = ''
  #pendingBytes = 0
  #begin = FILE_START
  #depth = 0
  #quoted = false
  #escaped = false

  constructor(limits: FileLimits) {
    this.#limits = limits
  }

  /** Whether only white space was read. */
  get isBlank(): boolean {
    return this.#state === 'array'
  }

  /** The rows that end in the next stretch of the file. */
  push(stretch: FileText): FileRow[] {
    const { text, place } = stretch
    const rows: FileRow[] = []
    let rowLine = this.#begin.line
    let pos = 0
    while (pos < text.length) {
      if (this.#state === 'row') {
        const start = pos
        pos = this.#endOfRow(text, start)
        if (pos === -1) {
          this.#keep(stretch, start)
          break
        }
        const begin = (): TextPlace => (this.#pending === '' ? placeIn(place, text, start) : this.#begin)
        const data = rowOfJson(this.#pending + text.slice(start, pos), this.#limits, begin)
        rows.push({ data, line: rowLine })
        this.#pending = ''
        this.#pendingBytes = 0
        this.#state = 'after'
        continue
      }
      const char = text.charCodeAt(pos)
      if (char === NEWLINE) this.#line++
      if (char !== SPACE && char !== NEWLINE && char !== RETURN && char !== TAB) {
        const next = nextState(this.#state, char)
        if (next === undefined) {
          throw invalidFile(placeIn(place, text, pos), `${strangeAt(text, pos)}; ${REMEDIES[this.#state]}`)
        }
        this.#state = next
        if (next === 'row') {
          rowLine = this.#line
          continue
        }
      }
      pos++
    }
    this.#end = stretch.end
    return rows
  }

  /** Refuses a file whose array does not end. */
  finish(): void {
    if (this.#state === 'end') return
    if (this.#state !== 'row')
      throw invalidFile(this.#end, 'The file ends inside of its array; close it with "]".')
    throw invalidFile(this.#begin, 'The row that begins here is never closed; close its brackets and quotes.')
  }

  /** The position behind the closing brace of the current row; -1 if it continues in the next stretch. */
  #endOfRow(text: string, from: number): number {
    // locals, because field access would dominate the cost of the loop
    let depth = this.#depth
    let quoted = this.#quoted
    let escaped = this.#escaped
    for (let pos = from; pos < text.length; pos++) {
      const char = text.charCodeAt(pos)
      if (quoted) {
        if (escaped) escaped = false
        else if (char === QUOTE) quoted = false
        else if (char === BACKSLASH) escaped = true
      } else if (char === QUOTE) {
        quoted = true
      } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
        depth++
      } else if (char === NEWLINE) {
        this.#line++
      } else if ((char === CLOSE_BRACE || char === CLOSE_BRACKET) && --depth === 0) {
        this.#depth = 0
        this.#quoted = false
        return pos + 1
      }
    }
    this.#depth = depth
    this.#quoted = quoted
    this.#escaped = escaped
    return -1
  }

  /** Keeps the start of an unfinished row; refuses one that is too large. */
  #keep({ text, place }: FileText, start: number): void {
    if (this.#pending === '') this.#begin = placeIn(place, text, start)
    const part = text.slice(start)
    this.#pending += part
    this.#pendingBytes += Buffer.byteLength(part)
    if (this.#pendingBytes > this.#limits.maxRowBytes)
      throw rowTooLarge(this.#begin, this.#limits.maxRowBytes)
  }
}

/** The next state after a character outside rows; undefined if it is unexpected. */
function nextState(state: State, char: number): State | undefined {
  if (state === 'array') return char === OPEN_BRACKET ? 'first' : undefined
  if (state === 'end') return undefined
  if (state === 'after') return char === COMMA ? 'next' : char === CLOSE_BRACKET ? 'end' : undefined
  if (char === OPEN_BRACE) return 'row'
  return char === CLOSE_BRACKET && state === 'first' ? 'end' : undefined
}
