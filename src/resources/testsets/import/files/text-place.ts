/** A place in a file: both counted from 1, the column in characters (code points, not bytes or UTF-16 units). */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** Where every file begins. A byte order mark takes no column. */
export const FILE_START: TextPlace = { line: 1, column: 1 }

/** The place of the UTF-16 unit at `offset` (at most the length) of a text whose first one stands at `start`. */
export function placeIn(start: TextPlace, text: string, offset: number): TextPlace {
  let line = start.line
  let from = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', from)) {
    line++
    from = end + 1
  }
  return { line, column: (from === 0 ? start.column : 1) + characters(text, from, offset) }
}

function characters(text: string, from: number, to: number): number {
  let count = to - from
  for (let pos = from; pos < to; pos++) if ((text.charCodeAt(pos) & 0xfc00) === 0xdc00) count--
  return count
}
