/// <reference lib="es2024.string" />
import { boundedText } from './json-values.ts'
import { type Json, ExactObject, MOST_PLAIN_KEYS, isAwkwardKey, ExactNumber } from './json.ts'
import { JsonTextError, type JsonTextProblem } from './json-text-error.ts'

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const JSON_SCANNER_QUOTE = 0x22
const PLUS = 0x2b
const JSON_SCANNER_MINUS = 0x2d
const DOT = 0x2e
const JSON_SCANNER_ZERO = 0x30
const JSON_SCANNER_NINE = 0x39
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
abstract class JsonScanner {
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
    while (char !== JSON_SCANNER_QUOTE) {
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
    let pos = first === JSON_SCANNER_MINUS ? start + 1 : start
    const digits = pos
    let char = text.charCodeAt(pos)
    let integer = 0
    while (char >= JSON_SCANNER_ZERO && char <= JSON_SCANNER_NINE) {
      integer = integer * 10 + (char - JSON_SCANNER_ZERO)
      char = text.charCodeAt(++pos)
    }
    const length = pos - digits
    this.pos = pos
    if (length === 0) this.unexpected('a digit after the minus sign')
    if (length > 1 && text.charCodeAt(digits) === JSON_SCANNER_ZERO) {
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
      return first === JSON_SCANNER_MINUS ? -integer : integer
    }
    if (char === DOT) char = this.digits(pos + 1)
    if (char === LOWER_E || char === UPPER_E) {
      const sign = text.charCodeAt(this.pos + 1)
      this.digits(this.pos + (sign === PLUS || sign === JSON_SCANNER_MINUS ? 2 : 1))
    }
    const literal = text.slice(start, this.pos)
    const value = Number(literal)
    return String(value) === literal ? value : new ExactNumber(literal)
  }

  /** Moves past one digit or more from `from` on and answers the character after them. */
  digits(from: number): number {
    let pos = from
    let char = this.text.charCodeAt(pos)
    while (char >= JSON_SCANNER_ZERO && char <= JSON_SCANNER_NINE) char = this.text.charCodeAt(++pos)
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

export interface ParseJsonOptions {
  /** How many arrays and objects may be open at once; 128 unless said. */
  readonly maxDepth?: number
  /**
   * How many values there may be: the whole, and all members and items at any depth; any number unless said. Where it is said, no object
   * may have more than MOST_MEMBERS of them.
   */
  readonly maxValues?: number
}

/** Adding to an object of many keys, comparing and merging it takes V8 seconds, in one go. */
export const MOST_MEMBERS = 50_000

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * One reading of a text, which can be put down after any value and taken up again: what is open lies in stacks, not in calls. (Measured: as
 * quick as calls that call themselves.)
 */
export class JsonReading extends JsonScanner {
  readonly maxDepth: number
  readonly maxValues: number
  /** How many values began so far. */
  values = 0
  /** The whole value, once `run` is through. */
  result: Json = null
  /** What is open around the innermost, from the outside in, with the key that each is at and its number of keys. */
  readonly outer: Container[] = []
  readonly outerKeys: string[] = []
  readonly outerSizes: number[] = []
  /** What is open innermost, if anything is, with the key that it is at (of an object), and its number of keys. */
  inner: Container | undefined
  key = ''
  size = 0
  /** Whether the place where reading stopped is between two members of the innermost, not inside one. */
  isBetween = false

  constructor(text: string, { maxDepth = 128, maxValues = Infinity }: ParseJsonOptions) {
    super(text)
    this.maxDepth = maxDepth
    this.maxValues = maxValues
    if (text.charCodeAt(0) === 0xfeff) {
      this.fail('syntax', 'The text begins with a byte order mark; send it without.')
    }
  }

  /** Reads on for so many values and so much text; whether that was the rest. */
  run(values: number, length: number): boolean {
    const stop = this.values + values
    const end = this.pos + length
    for (;;) {
      if (this.values >= stop || this.pos > end) return false
      if (++this.values > this.maxValues) this.tooMany()
      let value = this.begin()
      while (value !== undefined) {
        const { inner } = this
        if (inner === undefined) return this.finish(value)
        if (Array.isArray(inner)) inner.push(value)
        else if (inner instanceof ExactObject) inner.set(this.key, value)
        else inner[this.key] = value
        value = this.afterMember(inner)
      }
    }
  }

  finish(value: Json): true {
    this.space()
    if (this.pos < this.text.length) this.unexpected('the end of the text')
    this.result = value
    return true
  }

  /** Reads the value that begins here; undefined if it is an array or object with members: the first of them begins here then. */
  begin(): Json | undefined {
    const char = this.space()
    if (char === QUOTE) return this.string(false)
    if (char === OPEN_BRACE) {
      this.enter()
      if (this.space() === CLOSE_BRACE) {
        this.pos++
        return {}
      }
      this.open({})
      this.readKey()
      return undefined
    }
    if (char === OPEN_BRACKET) {
      this.enter()
      if (this.space() === CLOSE_BRACKET) {
        this.pos++
        return []
      }
      this.open([])
      return undefined
    }
    if (char === MINUS || (char >= ZERO && char <= NINE)) return this.number(char)
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.unexpected('a value')
  }

  /** Reads what stands after a member of the innermost; answers that if it ends here, undefined if another member begins. */
  afterMember(inner: Container): Json | undefined {
    const char = this.space()
    const isArray = Array.isArray(inner)
    if (char === COMMA) {
      this.pos++
      if (!isArray) this.readKey()
      return undefined
    }
    if (char !== (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.isBetween = true
      this.unexpected(isArray ? '"," or "]"' : '"," or "}"')
    }
    this.pos++
    this.inner = this.outer.pop()
    this.key = this.outerKeys.pop() ?? ''
    this.size = this.outerSizes.pop() ?? 0
    return inner
  }

  /** Steps over the opening brace or bracket. */
  enter(): void {
    if (this.depth() >= this.maxDepth) {
      this.fail('too_deep', `The value is nested more than ${this.maxDepth} levels deep; send a flatter one.`)
    }
    this.pos++
  }

  depth(): number {
    return this.inner === undefined ? 0 : this.outer.length + 1
  }

  open(container: Container): void {
    if (this.inner !== undefined) {
      this.outer.push(this.inner)
      this.outerKeys.push(this.key)
      this.outerSizes.push(this.size)
    }
    this.inner = container
    this.size = 0
  }

  /** Reads a key of the innermost, which is an object, and the colon after it. */
  readKey(): void {
    this.isBetween = true
    if (this.space() !== QUOTE) this.unexpected('a key in double quotes')
    const start = this.pos
    const key = this.string(true)
    this.isBetween = false
    this.key = key
    let inner = this.inner as ObjectContainer // who asks for a key has just opened an object, or is in one
    if (!(inner instanceof ExactObject) && (isAwkwardKey(key) || this.size >= MOST_PLAIN_KEYS)) {
      this.inner = inner = new ExactObject(Object.entries(inner))
    }
    if (++this.size > MOST_MEMBERS && this.maxValues < Infinity) this.tooManyMembers()
    // a member is never undefined, so only a hit (own, or the prototype's) pays for the second question
    if (
      inner instanceof ExactObject ? inner.has(key) : inner[key] !== undefined && Object.hasOwn(inner, key)
    ) {
      this.pos = start
      const found = JSON.stringify(boundedText(key, LONGEST_SHOWN))
      this.fail('duplicate_key', `The key ${found} is given twice in one object; give it once.`)
    }
    if (this.space() !== COLON) this.unexpected('":" after the key')
    this.pos++
  }

  tooMany(): never {
    this.space()
    this.fail(
      'too_many_values',
      `There are more than ${this.maxValues} values (members and items, nested ones included); send fewer at once.`,
    )
  }

  tooManyMembers(): never {
    this.fail(
      'too_many_values',
      `An object has more than ${MOST_MEMBERS} members; send a list, or several objects.`,
    )
  }

  /** The way from the root to where reading is. */
  path(): (string | number)[] {
    const { inner } = this
    const path = this.outer.map((container, level) => stepOf(container, this.outerKeys[level]))
    if (inner !== undefined && !this.isBetween) path.push(stepOf(inner, this.key))
    return path
  }
}

type ObjectContainer = Record<string, Json> | ExactObject
type Container = Json[] | ObjectContainer

/** Keys may be as long as the text; a sentence shows so much of one. */
const LONGEST_SHOWN = 200

function stepOf(container: Container, key = ''): string | number {
  return Array.isArray(container) ? container.length : boundedText(key, LONGEST_SHOWN)
}
