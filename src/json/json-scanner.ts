/// <reference lib="es2024.string" />
import { ExactNumber } from './json.ts'
import { JsonTextError, type JsonTextProblem } from './json-text-error.ts'

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const UPPER_E = 0x45
const BACKSLASH = 0x5c
const LOWER_E = 0x65
const LOWER_U = 0x75

/** What a string literal does not hold as it is. */
const SPECIAL = /["\\\u0000-\u001f]/g
/** Past so many characters a regular expression is twice as quick as the loop, which is quicker for the many that are shorter. */
const LONG = 1000

const HEX = /[0-9a-fA-F]{4}/y

/**
 * Reads the words of a text of JSON: white space, strings, numbers, names. At the end of the text `charCodeAt` gives NaN, which equals
 * nothing, so no loop has to test for it.
 */
export abstract class JsonScanner {
  readonly text: string
  /** Whether raw surrogates are all paired; then only escapes can make a lone one. */
  readonly wellFormed: boolean
  pos = 0

  constructor(text: string) {
    this.text = text
    this.wellFormed = text.isWellFormed()
  }

  /** The way from the root of the value to where reading is. */
  abstract path(): (string | number)[]

  /** Moves past white space and answers the character after it. */
  space(): number {
    const text = this.text
    let pos = this.pos
    let char = text.charCodeAt(pos)
    while (char === SPACE || char === NEWLINE || char === RETURN || char === TAB)
      char = text.charCodeAt(++pos)
    this.pos = pos
    return char
  }

  string(isKey: boolean): string {
    const text = this.text
    const start = this.pos
    let pos = start + 1
    let escaped = false
    let char = text.charCodeAt(pos)
    let long = start + LONG
    while (char !== QUOTE) {
      if (char === BACKSLASH) {
        escaped = true
        pos++
      } else if (!(char >= SPACE)) {
        this.pos = pos
        if (Number.isNaN(char)) this.unexpected('the closing quote of a string')
        this.fail('syntax', 'A control character stands inside a string; write it as an escape, such as \\n.')
      } else if (pos > long) {
        SPECIAL.lastIndex = pos
        pos = (SPECIAL.test(text) ? SPECIAL.lastIndex : text.length + 1) - 2
        long = pos + LONG
      }
      char = text.charCodeAt(++pos)
    }
    this.pos = pos + 1
    if (!escaped && this.wellFormed) return text.slice(start + 1, pos)
    const value = escaped ? this.unescape(start, pos + 1) : text.slice(start + 1, pos)
    if (!value.isWellFormed()) {
      this.pos = start
      const what = isKey ? 'A key' : 'The string'
      this.fail('lone_surrogate', `${what} holds half of a surrogate pair; send whole characters.`)
    }
    return value
  }

  /**
   * What the string literal between two offsets stands for. `JSON.parse` loses nothing of a string, and is quicker with
   * escapes than anything written here; only when it refuses do we look for the place.
   */
  unescape(start: number, end: number): string {
    const literal = this.text.slice(start, end)
    try {
      // the literal begins and ends with a quote, so a string is all it can stand for
      return JSON.parse(literal) as string
    } catch {
      this.pos = this.badEscape(start)
      const found = JSON.stringify(this.text.charAt(this.pos + 1))
      return this.fail(
        'syntax',
        `A backslash before ${found} is no escape of JSON; write \\\\ for a backslash.`,
      )
    }
  }

  /** Where in a string literal, which begins at `start`, the first backslash stands that begins no escape. There is one. */
  badEscape(start: number): number {
    for (let at = start; ; at++) {
      if (this.text.charCodeAt(at) !== BACKSLASH) continue
      HEX.lastIndex = at + 2
      const isHex = this.text.charCodeAt(at + 1) === LOWER_U && HEX.test(this.text)
      if (!isHex && !'"\\/bfnrt'.includes(this.text.charAt(at + 1))) return at
      at += isHex ? 5 : 1
    }
  }

  number(first: number): number | ExactNumber {
    const text = this.text
    const start = this.pos
    let pos = first === MINUS ? start + 1 : start
    const digits = pos
    let char = text.charCodeAt(pos)
    let integer = 0
    while (char >= ZERO && char <= NINE) {
      integer = integer * 10 + (char - ZERO)
      char = text.charCodeAt(++pos)
    }
    const length = pos - digits
    this.pos = pos
    if (length === 0) this.unexpected('a digit after the minus sign')
    if (length > 1 && text.charCodeAt(digits) === ZERO) {
      this.pos = digits
      this.fail('syntax', 'A number begins with a superfluous zero; write it without.')
    }
    // up to fifteen digits a double counts exactly and is written in just those digits
    if (
      char !== DOT &&
      char !== LOWER_E &&
      char !== UPPER_E &&
      length <= 15 &&
      (integer > 0 || pos === start + 1)
    ) {
      return first === MINUS ? -integer : integer
    }
    if (char === DOT) char = this.digits(pos + 1)
    if (char === LOWER_E || char === UPPER_E) {
      const sign = text.charCodeAt(this.pos + 1)
      this.digits(this.pos + (sign === PLUS || sign === MINUS ? 2 : 1))
    }
    const literal = text.slice(start, this.pos)
    const value = Number(literal)
    return String(value) === literal ? value : new ExactNumber(literal)
  }

  /** Moves past one digit or more from `from` on and answers the character after them. */
  digits(from: number): number {
    let pos = from
    let char = this.text.charCodeAt(pos)
    while (char >= ZERO && char <= NINE) char = this.text.charCodeAt(++pos)
    this.pos = pos
    if (pos === from) this.unexpected('a digit')
    return char
  }

  word(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false
    this.pos += word.length
    return true
  }

  unexpected(wanted: string): never {
    const code = this.text.codePointAt(this.pos)
    const found = code === undefined ? 'the text ends' : `found ${JSON.stringify(String.fromCodePoint(code))}`
    this.fail('syntax', `Expected ${wanted}, but ${found}.`)
  }

  fail(kind: JsonTextProblem, sentence: string): never {
    throw new JsonTextError(kind, sentence, this.text, this.pos, this.path())
  }
}
