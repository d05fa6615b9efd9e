/// <reference lib="es2024.string" />
import { ExactNumber, ExactObject, type Json, type JsonObject, isAwkwardKey } from './json.ts'
import { JsonTextError, type JsonTextProblem } from './json-text-error.ts'

export interface ParseJsonOptions {
  /** How many arrays and objects may be open at once; 128 unless said. */
  readonly maxDepth?: number
}

/**
 * Reads one RFC 8259 text into a value that `stringifyJson` writes back digit for digit and key for key. Throws
 * `JsonTextError` for what is not JSON, a key given twice in one object, a lone surrogate (raw or escaped, in a key or a
 * value) and too many levels. Answers to ruling 3.15; `JSON.parse` would change each of these without a word.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): Json {
  return new Parser(text, options.maxDepth ?? 128).parse()
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LOWER_E = 0x65
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** One reading. At the end of the text `charCodeAt` gives NaN, which equals nothing, so no loop has to test for it. */
class Parser {
  readonly text: string
  readonly maxDepth: number
  /** Whether raw surrogates are all paired; then only escapes can make a lone one. */
  readonly wellFormed: boolean
  pos = 0
  readonly path: (string | number)[] = []

  constructor(text: string, maxDepth: number) {
    this.text = text
    this.maxDepth = maxDepth
    this.wellFormed = text.isWellFormed()
  }

  parse(): Json {
    if (this.text.charCodeAt(0) === 0xfeff) {
      this.fail('syntax', 'The text begins with a byte order mark; send it without.')
    }
    const value = this.value()
    this.space()
    if (this.pos < this.text.length) this.unexpected('the end of the text')
    return value
  }

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

  value(): Json {
    const char = this.space()
    if (char === QUOTE) return this.string(false)
    if (char === OPEN_BRACE) return this.object()
    if (char === OPEN_BRACKET) return this.array()
    if (char === MINUS || (char >= ZERO && char <= NINE)) return this.number(char)
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.unexpected('a value')
  }

  object(): JsonObject {
    this.enter()
    const plain: Record<string, Json> = {}
    let exact: ExactObject | undefined
    if (this.space() === CLOSE_BRACE) {
      this.pos++
      return plain
    }
    for (;;) {
      if (this.space() !== QUOTE) this.unexpected('a key in double quotes')
      const start = this.pos
      const key = this.string(true)
      this.path.push(key)
      if (exact === undefined && isAwkwardKey(key)) exact = new ExactObject(Object.entries(plain))
      // a member is never undefined, so only a hit (own, or the prototype's) pays for the second question
      if (exact === undefined ? plain[key] !== undefined && Object.hasOwn(plain, key) : exact.has(key)) {
        this.pos = start
        this.fail(
          'duplicate_key',
          `The key ${JSON.stringify(key)} is given twice in one object; give it once.`,
        )
      }
      if (this.space() !== COLON) this.unexpected('":" after the key')
      this.pos++
      const value = this.value()
      if (exact === undefined) plain[key] = value
      else exact.set(key, value)
      this.path.pop()
      const char = this.space()
      if (char !== COMMA && char !== CLOSE_BRACE) this.unexpected('"," or "}"')
      this.pos++
      if (char === CLOSE_BRACE) return exact ?? plain
    }
  }

  array(): readonly Json[] {
    this.enter()
    const items: Json[] = []
    if (this.space() === CLOSE_BRACKET) {
      this.pos++
      return items
    }
    for (;;) {
      this.path.push(items.length)
      items.push(this.value())
      this.path.pop()
      const char = this.space()
      if (char !== COMMA && char !== CLOSE_BRACKET) this.unexpected('"," or "]"')
      this.pos++
      if (char === CLOSE_BRACKET) return items
    }
  }

  /** Steps over the opening brace or bracket. The path holds one step for each open level. */
  enter(): void {
    if (this.path.length >= this.maxDepth) {
      this.fail('too_deep', `The value is nested more than ${this.maxDepth} levels deep; send a flatter one.`)
    }
    this.pos++
  }

  string(isKey: boolean): string {
    const text = this.text
    const start = this.pos
    let pos = start + 1
    let escaped = false
    let char = text.charCodeAt(pos)
    while (char !== QUOTE) {
      if (char === BACKSLASH) {
        escaped = true
        pos++
      } else if (!(char >= SPACE)) {
        this.pos = pos
        if (Number.isNaN(char)) this.unexpected('the closing quote of a string')
        this.fail('syntax', 'A control character stands inside a string; write it as an escape, such as \\n.')
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
      const known = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/g
      this.pos = start + literal.replace(known, (escape) => '_'.repeat(escape.length)).indexOf('\\')
      const found = JSON.stringify(this.text.charAt(this.pos + 1))
      return this.fail(
        'syntax',
        `A backslash before ${found} is no escape of JSON; write \\\\ for a backslash.`,
      )
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
    throw new JsonTextError(kind, sentence, this.text, this.pos, [...this.path])
  }
}
