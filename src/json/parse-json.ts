/// <reference lib="es2024.string" />
import { TimeSlice } from '../scheduling/cooperative.ts'
import { boundedText } from './json-values.ts'
import { ExactNumber, ExactObject, type Json, MOST_PLAIN_KEYS, hasKey, isAwkwardKey } from './json.ts'
import { JsonTextError, type JsonTextProblem } from './json-text-error.ts'

export interface ParseJsonOptions {
  /** How many arrays and objects may be open at once; 128 unless said. */
  readonly maxDepth?: number
  /**
   * How many values there may be: the whole, and all members and items at any depth; any number unless said. Where it is said, no object
   * may have more than MOST_MEMBERS of them.
   */
  readonly maxValues?: number
}

/** The deepest nesting that a server may be told to take (`MAX_BODY_DEPTH`), so that what was stored can be read. */
export const MOST_LEVELS = 1000

/** Adding to an object of many keys, comparing and merging it takes V8 seconds, in one go. */
export const MOST_MEMBERS = 50_000

/**
 * Reads one RFC 8259 text into a value that `stringifyJson` writes back digit for digit and key for key. Throws
 * `JsonTextError` for what is not JSON, a key given twice in one object, a lone surrogate (raw or escaped, in a key or a
 * value), too many levels and too many values, as soon as it meets them. Answers to interface 2.9; `JSON.parse` would change each of
 * these without a word.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): Json {
  const parser = new JsonParser(text, options)
  return parser.whole(parser.value())
}

/**
 * The same of a text that may hold many documents or rows: between the members of the outermost levels, other requests have their turn. A
 * document itself is read in one go. Ends with the reason of `stop`.
 */
export async function parseInTurns(
  text: string,
  options: ParseJsonOptions,
  stop?: AbortSignal,
): Promise<Json> {
  const slice = new TimeSlice(stop)
  // What brought the text took its time, too.
  await slice.rest()
  const parser = new JsonParser(text, options)
  return parser.whole(await parser.valueInTurns(OUTERMOST_LEVELS, slice))
}

/** An envelope, its record, the delta or list in it, and an item of that: what is below an item is small. */
const OUTERMOST_LEVELS = 5

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
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
const LOWER_U = 0x75
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = 0xfeff

/** The characters of a string literal that mean themselves. */
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const HEX = /[0-9a-fA-F]{4}/y

/** Keys may be as long as the text; a sentence shows so much of one. */
const LONGEST_SHOWN = 200

/** An object that is being read. */
type Members = Record<string, Json> | ExactObject

/**
 * Reads a text from left to right, one call a level. At its end `charCodeAt` gives NaN, which equals nothing, so no loop has to test for
 * it.
 */
class JsonParser {
  readonly text: string
  readonly maxDepth: number
  readonly maxValues: number
  /** Whether raw surrogates are all paired; then only escapes can make a lone one. */
  readonly isWellFormed: boolean
  pos = 0
  values = 0
  /** How many arrays and objects are open. */
  depth = 0
  /** The key or index that each of them is at. */
  readonly path: (string | number)[] = []

  constructor(text: string, { maxDepth = 128, maxValues = Infinity }: ParseJsonOptions) {
    this.text = text
    this.maxDepth = maxDepth
    this.maxValues = maxValues
    this.isWellFormed = text.isWellFormed()
    if (text.charCodeAt(0) === BYTE_ORDER_MARK)
      this.fail('syntax', 'The text begins with a byte order mark; send it without.')
  }

  /** The value of the text, if nothing follows it. */
  whole(value: Json): Json {
    this.space()
    if (this.pos < this.text.length) this.unexpected('the end of the text')
    return value
  }

  value(): Json {
    const char = this.space()
    if (++this.values > this.maxValues) this.tooManyValues()
    if (char === QUOTE) return this.string(false)
    if (char === OPEN_BRACE) return this.object()
    if (char === OPEN_BRACKET) return this.array()
    if (char === MINUS || (char >= ZERO && char <= NINE)) return this.number()
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.unexpected('a value')
  }

  object(): Json {
    let members: Members = {}
    if (this.open(CLOSE_BRACE)) return members
    let size = 0
    do {
      const key = this.key(members, ++size)
      members = withMember(members, key, this.value(), size)
    } while (this.another(CLOSE_BRACE))
    return members
  }

  array(): Json {
    const items: Json[] = []
    if (this.open(CLOSE_BRACKET)) return items
    do {
      this.path[this.depth++] = items.length
      items.push(this.value())
    } while (this.another(CLOSE_BRACKET))
    return items
  }

  /** `value`, in turns as far as the outermost levels go. */
  async valueInTurns(levels: number, slice: TimeSlice): Promise<Json> {
    const char = this.space()
    if (levels === 0 || (char !== OPEN_BRACE && char !== OPEN_BRACKET)) return this.value()
    if (++this.values > this.maxValues) this.tooManyValues()
    return char === OPEN_BRACE ? this.objectInTurns(levels - 1, slice) : this.arrayInTurns(levels - 1, slice)
  }

  async objectInTurns(levels: number, slice: TimeSlice): Promise<Json> {
    let members: Members = {}
    if (this.open(CLOSE_BRACE)) return members
    let size = 0
    do {
      const key = this.key(members, ++size)
      members = withMember(members, key, await this.valueInTurns(levels, slice), size)
      if (slice.isOver) await slice.rest()
    } while (this.another(CLOSE_BRACE))
    return members
  }

  async arrayInTurns(levels: number, slice: TimeSlice): Promise<Json> {
    const items: Json[] = []
    if (this.open(CLOSE_BRACKET)) return items
    do {
      this.path[this.depth++] = items.length
      items.push(await this.valueInTurns(levels, slice))
      if (slice.isOver) await slice.rest()
    } while (this.another(CLOSE_BRACKET))
    return items
  }

  /** Moves past white space and answers the character after it. */
  space(): number {
    let char = this.text.charCodeAt(this.pos)
    while (char === SPACE || char === NEWLINE || char === RETURN || char === TAB)
      char = this.text.charCodeAt(++this.pos)
    return char
  }

  /** Steps into an array or object; whether it ends at once. */
  open(close: number): boolean {
    if (this.depth >= this.maxDepth)
      this.fail('too_deep', `The value is nested more than ${this.maxDepth} levels deep; send a flatter one.`)
    this.pos++
    if (this.space() !== close) return false
    this.pos++
    return true
  }

  /** Leaves a member or item; whether another follows. */
  another(close: number): boolean {
    this.depth--
    const char = this.space()
    if (char !== COMMA && char !== close)
      this.unexpected(close === CLOSE_BRACKET ? '"," or "]"' : '"," or "}"')
    this.pos++
    return char === COMMA
  }

  /** Reads the key of an object's next member, and the colon after it. */
  key(members: Members, size: number): string {
    if (this.space() !== QUOTE) this.unexpected('a key in double quotes')
    const start = this.pos
    const key = this.string(true)
    this.path[this.depth++] = key
    if (size > MOST_MEMBERS && this.maxValues < Infinity) this.tooManyMembers()
    if (hasKey(members, key)) this.givenTwice(key, start)
    if (this.space() !== COLON) this.unexpected('":" after the key')
    this.pos++
    return key
  }

  string(isKey: boolean): string {
    const start = this.pos
    const end = this.plainUntil(start + 1)
    if (!this.isWellFormed || this.text.charCodeAt(end) !== QUOTE) return this.unusualString(end, isKey)
    this.pos = end + 1
    return this.text.slice(start + 1, end)
  }

  /** Where the characters end that mean themselves. */
  plainUntil(from: number): number {
    PLAIN_CHARACTERS.lastIndex = from
    PLAIN_CHARACTERS.test(this.text)
    return PLAIN_CHARACTERS.lastIndex
  }

  /** A string that holds escapes or may hold half a character, or does not end well; up to `end` it is plain. */
  unusualString(end: number, isKey: boolean): string {
    const start = this.pos
    while (this.text.charCodeAt(end) !== QUOTE) {
      if (this.text.charCodeAt(end) !== BACKSLASH) this.endless(end)
      end = this.plainUntil(Math.min(end + 2, this.text.length))
    }
    const value = this.unescape(start, end + 1)
    if (!value.isWellFormed()) {
      const what = isKey ? 'A key' : 'The string'
      this.fail('lone_surrogate', `${what} holds half of a surrogate pair; send whole characters.`)
    }
    this.pos = end + 1
    return value
  }

  /** Refuses a string in which there is a control character at this place, or the end of the text. */
  endless(at: number): never {
    this.pos = at
    if (at >= this.text.length) this.unexpected('the closing quote of a string')
    this.fail('syntax', 'A control character stands inside a string; write it as an escape, such as \\n.')
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

  number(): number | ExactNumber {
    let end = this.pos
    let integer = 0
    let char = this.text.charCodeAt(end)
    while (char >= ZERO && char <= NINE) {
      integer = integer * 10 + (char - ZERO)
      char = this.text.charCodeAt(++end)
    }
    // A double counts up to fifteen digits exactly, and is written in just those.
    if (
      integer > 0 &&
      end - this.pos <= 15 &&
      isAfterNumber(char) &&
      this.text.charCodeAt(this.pos) !== ZERO
    ) {
      this.pos = end
      return integer
    }
    return this.unusualNumber()
  }

  /** A number with a sign, a fraction or an exponent, a very long one, or zero. */
  unusualNumber(): number | ExactNumber {
    NUMBER.lastIndex = this.pos
    const literal = NUMBER.exec(this.text)?.[0] ?? ''
    const char = this.text.charCodeAt(this.pos + literal.length)
    if (literal === '' || !isAfterNumber(char) || (char >= ZERO && char <= NINE)) this.badNumber()
    this.pos += literal.length
    const value = Number(literal)
    return String(value) === literal ? value : new ExactNumber(literal)
  }

  /** Refuses what begins like a number, at the place where it goes wrong. */
  badNumber(): never {
    if (this.text.charCodeAt(this.pos) === MINUS) this.pos++
    const [digits = ''] = /^[0-9]*/.exec(this.text.slice(this.pos)) ?? []
    if (digits === '') this.unexpected('a digit after the minus sign')
    if (digits.length > 1 && digits.startsWith('0'))
      this.fail('syntax', 'A number begins with a superfluous zero; write it without.')
    const [rest = ''] =
      /^(?:\.[0-9]+)?(?:\.|[eE][+-]?)?/.exec(this.text.slice(this.pos + digits.length)) ?? []
    this.pos += digits.length + rest.length
    this.unexpected('a digit')
  }

  word(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false
    this.pos += word.length
    return true
  }

  givenTwice(key: string, at: number): never {
    this.pos = at
    const found = JSON.stringify(boundedText(key, LONGEST_SHOWN))
    this.fail('duplicate_key', `The key ${found} is given twice in one object; give it once.`)
  }

  tooManyValues(): never {
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

  unexpected(wanted: string): never {
    const code = this.text.codePointAt(this.pos)
    const found = code === undefined ? 'the text ends' : `found ${JSON.stringify(String.fromCodePoint(code))}`
    this.fail('syntax', `Expected ${wanted}, but ${found}.`)
  }

  fail(kind: JsonTextProblem, sentence: string): never {
    const path = this.path
      .slice(0, this.depth)
      .map((step) => (typeof step === 'string' ? boundedText(step, LONGEST_SHOWN) : step))
    throw new JsonTextError(kind, sentence, this.text, this.pos, path)
  }
}

/** Whether this character cannot be a part of the number before it, which ends in a digit. */
function isAfterNumber(char: number): boolean {
  return char !== DOT && char !== LOWER_E && char !== UPPER_E
}

/** The object with one more member. */
function withMember(members: Members, key: string, value: Json, size: number): Members {
  if (members instanceof ExactObject) return members.set(key, value)
  if (isAwkwardKey(key) || size > MOST_PLAIN_KEYS)
    return new ExactObject(Object.entries(members)).set(key, value)
  members[key] = value
  return members
}
