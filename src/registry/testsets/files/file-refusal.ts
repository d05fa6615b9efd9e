import { Refusal } from '../../../errors.ts'

/** A place in a file: both counted from 1, the column in characters (code points, not bytes or UTF-16 units). */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** Where every file begins. A byte order mark takes no column. */
export const FILE_START: TextPlace = { line: 1, column: 1 }

/** The place of the UTF-16 unit at `offset` (at most the length) of a text that begins at `start`. */
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

/** The refusal of an invalid file: `sentence` says what is wrong at `place` and what to do. Nothing of the file is stored. */
export function invalidFile(place: TextPlace, sentence: string): Refusal {
  return new Refusal('invalid_file', at(place, sentence), { details: { ...place } })
}

/** The refusal of a file in an unsupported format, or one that is damaged as a whole. Nothing of it is stored. */
export function wrongFormat(sentence: string): Refusal {
  return new Refusal('invalid_file', sentence.toWellFormed())
}

/** The refusal of a file without rows, if empty files are not allowed. */
export function emptyFile(what: string): Refusal {
  return new Refusal(
    'empty_file',
    `${what}, and the rows of a file take the place of all that are there. Send the file that you meant, or ` +
      'allow_empty=true if no rows are what you mean.',
  )
}

/** The refusal of a file whose row at `place` is past a limit; `sentence` names the limit. */
export function pastLimit(place: TextPlace, sentence: string): Refusal {
  return new Refusal('limit_exceeded', at(place, sentence), { details: { ...place } })
}

/** The refusal of a row that takes more than `maxRowBytes` bytes of its file; `hint` may guess at the reason. */
export function rowTooLarge(place: TextPlace, maxRowBytes: number, hint = ''): Refusal {
  return pastLimit(
    place,
    `The row that begins here is larger than the limit of ${maxRowBytes} bytes a row; make it smaller or split it.${hint}`,
  )
}

/** Names the character at `offset` of a text; the sentence then says what should be there. */
export function strangeAt(text: string, offset: number): string {
  const code = text.codePointAt(offset) ?? 0
  return `${JSON.stringify(String.fromCodePoint(code))} must not stand here`
}

function at(place: TextPlace, sentence: string): string {
  // a name that the sentence repeats may be as long as a row; its end, the remedy, is kept
  const short = sentence.length <= 1000 ? sentence : `${sentence.slice(0, 600)} … ${sentence.slice(-300)}`
  return `Line ${place.line}, column ${place.column}: ${short.toWellFormed()}`
}
