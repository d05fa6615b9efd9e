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
 * The rows of a JSON file, in batches of what a stretch of it holds, if any: one array of objects, each a row (interface 8.17). Numbers
 * and keys stay exactly as they are written. Refuses a bad file (`invalid_file`: anything but such an array, and what
 * `parseJson` refuses) and one past the limits (`limit_exceeded`) with the place, and one that holds nothing (`empty_file`) unless
 * that is meant.
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

/** What comes next: the array, its first row or its end, the rest of a row, a comma or the end, another row, nothing. */
type State = 'array' | 'first' | 'row' | 'after' | 'next' | 'end'

/** What to do about a character that must not stand where one of these comes next. */
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

/** Cuts the array where rows end, looking at each character once, and leaves what is inside of a row to the parser. */
class JsonRowCutter {
  readonly #limits: FileLimits
  #state: State = 'array'
  #line = 1
  #end = FILE_START
  /** The row that has not ended: its text in earlier stretches, where it begins, what is open in it. */
  #pending = ''
  #pendingBytes = 0
  #begin = FILE_START
  #depth = 0
  #quoted = false
  #escaped = false

  constructor(limits: FileLimits) {
    this.#limits = limits
  }

  /** Whether nothing but white space has come. */
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

  /** Refuses a file that ends before its array does. */
  finish(): void {
    if (this.#state === 'end') return
    if (this.#state !== 'row')
      throw invalidFile(this.#end, 'The file ends inside of its array; close it with "]".')
    throw invalidFile(this.#begin, 'The row that begins here is never closed; close its brackets and quotes.')
  }

  /** Past the brace that ends the row which is open or begins at `from`; -1 if it goes on in the next stretch. */
  #endOfRow(text: string, from: number): number {
    // locals, because fields would cost more than the rest of the loop
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

  /** Keeps the beginning of a row that goes on in the next stretch, as long as it is not too large. */
  #keep({ text, place }: FileText, start: number): void {
    if (this.#pending === '') this.#begin = placeIn(place, text, start)
    const part = text.slice(start)
    this.#pending += part
    this.#pendingBytes += Buffer.byteLength(part)
    if (this.#pendingBytes > this.#limits.maxRowBytes)
      throw rowTooLarge(this.#begin, this.#limits.maxRowBytes)
  }
}

/** The state after a character that is not white space, outside of rows; undefined if it must not stand there. */
function nextState(state: State, char: number): State | undefined {
  if (state === 'array') return char === OPEN_BRACKET ? 'first' : undefined
  if (state === 'end') return undefined
  if (state === 'after') return char === COMMA ? 'next' : char === CLOSE_BRACKET ? 'end' : undefined
  if (char === OPEN_BRACE) return 'row'
  return char === CLOSE_BRACKET && state === 'first' ? 'end' : undefined
}
