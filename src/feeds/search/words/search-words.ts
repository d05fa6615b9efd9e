/** A word in the form in which words are compared: lower case, without the accents of Latin, Greek and Cyrillic letters. */
export interface Word {
  readonly word: string
  /** Its place in the text, in UTF-16 units; `end` is the first unit after it. */
  readonly start: number
  readonly end: number
}

/** Most words are ASCII: only their case is folded. */
const ASCII = /^[\0-\x7f]*$/

const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Scripts without spaces between words. There, each pair of neighbouring characters is a word, and so is the last character. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu

/** The words of a text in their order. All other characters (blanks, punctuation, symbols) only separate words. */
export function* searchWords(text: string): Generator<Word> {
  for (const { 0: run, index: start } of text.matchAll(WORD)) {
    if (ASCII.test(run)) yield { word: run.toLowerCase(), start, end: start + run.length }
    // An accent without a letter is no word.
    else for (const piece of piecesOf(run, start)) if (piece.word !== '') yield piece
  }
}

/** The words of a run of letters that are not all ASCII and begin at `start`. */
function* piecesOf(run: string, start: number): Generator<Word> {
  let at = 0
  for (const { 0: unspaced, index: begin } of run.matchAll(UNSPACED)) {
    if (begin > at) yield wordAt(run.slice(at, begin), start + at)
    yield* pairsOf(unspaced, start + begin)
    at = begin + unspaced.length
  }
  if (at < run.length) yield wordAt(run.slice(at), start + at)
}

function* pairsOf(run: string, start: number): Generator<Word> {
  let before: { readonly text: string; readonly start: number } | undefined
  let at = start
  for (const character of run) {
    if (before) yield wordAt(before.text + character, before.start)
    before = { text: character, start: at }
    at += character.length
  }
  if (before) yield wordAt(before.text, before.start)
}

function wordAt(text: string, start: number): Word {
  return { word: folded(text), start, end: start + text.length }
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
}

/** Whether a text is in a script without spaces. Then its last word does not match within a longer text. */
export function isUnspaced(text: string): boolean {
  return text.replace(UNSPACED, '') === ''
}

/** Separates two texts of one document, so that no phrase matches across them. No query contains it. */
const BREAK = ' \ue000 '

/** Texts in the form that the index stores: their words, as they are compared. */
export function indexedText(texts: readonly string[]): string {
  const parts: string[] = []
  for (const text of texts) {
    const words: string[] = []
    for (const { word } of searchWords(text)) words.push(word)
    parts.push(words.join(' '))
  }
  return parts.join(BREAK)
}
