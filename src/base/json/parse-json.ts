/// <reference lib="es2024.string" />
import { TimeSlice } from '../scheduling/cooperative.ts'
import { boundedText } from './json-values.ts'
import { ExactNumber, ExactObject, type Json, MOST_PLAIN_KEYS, hasKey, isAwkwardKey } from './json.ts'
import { JsonTextError, type JsonTextProblem } from './json-text-error.ts'

export interface ParseJsonOptions {
  /** How many arrays and objects may be open at once; 128 unless said. */
  readonly maxDepth?: number
  /**
   * The maximum number of values: the whole, and all members and items at any depth; no maximum if it is missing. With a maximum, an object may
   * have at most MOST_MEMBERS members.
   */
  readonly maxValues?: number
}

/** The largest value of `MAX_BODY_DEPTH`: a server with the default setting can read everything that was stored with this one. */
export const MOST_LEVELS = 1000

/** V8 needs seconds, without a pause, to build, compare or merge an object with more keys. */
export const MOST_MEMBERS = 50_000

/**
 * Reads one RFC 8259 text into a value that `stringifyJson` writes back digit for digit and key for key. Throws
 * `JsonTextError` for what is not JSON, a key given twice in one object, a lone surrogate (raw or escaped, in a key or a
 * value), too many levels and too many values, as soon as it meets them. Answers to interface 2.9; `JSON.parse` would change each of
 * these without a word.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): Json {
  const parser = new JsonParser(text, options)
  parser.read()
  return parser.value
}

/**
 * Like `parseJson`, for a text that may hold many documents or rows: between members of the outermost levels it yields to other requests. One
 * document is read without a pause. Rejects with the reason of `stop`.
 */
export async function parseInTurns(
  text: string,
  options: ParseJsonOptions,
  stop?: AbortSignal,
): Promise<Json> {
  const slice = new TimeSlice(stop)
  // Receiving the text took time, too.
  await slice.rest()
  const parser = new JsonParser(text, options)
  while (!parser.read(slice)) await slice.rest()
  return parser.value
}

/** An envelope, its record, its delta or list, and an item of that. A value below an item is small. */
const OUTERMOST_LEVELS = 5

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LOWER_U = 0x75
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = 0xfeff

/** The characters of a string literal that mean themselves. */
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y
/** A word, or a number of any length. */
const LITERAL = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![.eE0-9])/y
const WORDS: Readonly<Record<string, Json>> = { true: true, false: false, null: null }
const HEX = /[0-9a-fA-F]{4}/y

/** A key may be as long as the whole text; an error message shows this many characters of it. */
const LONGEST_SHOWN = 200

/** An object or a list that is being read. */
interface Open {
  readonly close: number
  members: Record<string, Json> | ExactObject | Json[]
  /** How many members or items have begun. */
  size: number
}

/**
 * Reads a text from left to right, all levels in one loop. At the end `charCodeAt` gives NaN, which equals nothing, so no loop has to test for the
 * end.
 */
class JsonParser {
  readonly text: string
  readonly maxDepth: number
  readonly maxValues: number
  /** Whether raw surrogates are all paired; then only escapes can make a lone one. */
  readonly isWellFormed: boolean
  /** The value that was read last; at the end, the whole value. */
  value: Json = null
  pos = 0
  values = 0
  /** The objects and lists that are open, the outermost first. */
  readonly open: Open[] = []
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

  /** Reads to the end of the text, or until the slice is over on one of the outermost levels. Returns whether it is at the end. */
  read(slice?: TimeSlice): boolean {
    let into = this.open.at(-1)
    for (;;) {
      const char = this.space()
      if (++this.values > this.maxValues) this.tooManyValues()
      if (char === OPEN_BRACE || char === OPEN_BRACKET) {
        if (this.path.length >= this.maxDepth) this.tooDeep()
        this.pos++
        const opened: Open =
          char === OPEN_BRACE
            ? { close: CLOSE_BRACE, members: {}, size: 0 }
            : { close: CLOSE_BRACKET, members: [], size: 0 }
        if (this.space() !== opened.close) {
          this.open.push(opened)
          into = opened
          this.begin(into)
          continue
        }
        this.pos++
        this.value = opened.members
      } else this.value = this.scalar(char)
      // A value was read, and so was each object and list of which it is the last member.
      while (into) {
        this.put(into)
        const after = this.space()
        if (after !== COMMA && after !== into.close)
          this.unexpected(into.close === CLOSE_BRACKET ? '"," or "]"' : '"," or "}"')
        this.pos++
        if (after === COMMA) {
          this.begin(into)
          break
        }
        this.value = into.members
        this.open.pop()
        into = this.open.at(-1)
      }
      if (!into) break
      if (this.open.length <= OUTERMOST_LEVELS && slice?.isOver) return false
    }
    this.space()
    if (this.pos < this.text.length) this.unexpected('the end of the text')
    return true
  }

  /** Moves past white space and answers the character after it. */
  space(): number {
    let char = this.text.charCodeAt(this.pos)
    while (char === SPACE || char === NEWLINE || char === RETURN || char === TAB)
      char = this.text.charCodeAt(++this.pos)
    return char
  }

  /** Steps to the next item, or reads the key of the next member, and the colon after it. */
  begin(into: Open): void {
    const { members } = into
    const size = ++into.size
    if (Array.isArray(members)) {
      this.path.push(size - 1)
      return
    }
    if (this.space() !== QUOTE) this.unexpected('a key in double quotes')
    const start = this.pos
    const key = this.string(true)
    this.path.push(key)
    if (size > MOST_MEMBERS && this.maxValues < Infinity) this.tooManyMembers()
    if (hasKey(members, key)) this.givenTwice(key, start)
    if (this.space() !== COLON) this.unexpected('":" after the key')
    this.pos++
  }

  /** Adds the value that was read to the open list, or to the open object under the current key. */
  put(into: Open): void {
    const { members } = into
    const key = this.path.pop() as string // The key of a list is an index, and is not used.
    if (Array.isArray(members)) members.push(this.value)
    else if (members instanceof ExactObject) members.set(key, this.value)
    else if (isAwkwardKey(key) || into.size > MOST_PLAIN_KEYS)
      into.members = new ExactObject(Object.entries(members)).set(key, this.value)
    else members[key] = this.value
  }

  /** A string, a number, true, false or null. */
  scalar(char: number): Json {
    if (char === QUOTE) return this.string(false)
    const isNumber = char === MINUS || (char >= ZERO && char <= NINE)
    LITERAL.lastIndex = this.pos
    if (!LITERAL.test(this.text)) return isNumber ? this.badNumber() : this.unexpected('a value')
    const literal = this.text.slice(this.pos, LITERAL.lastIndex)
    this.pos = LITERAL.lastIndex
    if (!isNumber) return WORDS[literal] ?? null
    const value = Number(literal)
    return String(value) === literal ? value : new ExactNumber(literal)
  }

  string(isKey: boolean): string {
    const start = this.pos
    let end = start + 1
    let isPlain = this.isWellFormed
    for (;;) {
      PLAIN_CHARACTERS.lastIndex = end
      PLAIN_CHARACTERS.test(this.text)
      end = PLAIN_CHARACTERS.lastIndex
      const char = this.text.charCodeAt(end)
      if (char === QUOTE) break
      if (char !== BACKSLASH) this.endless(end)
      isPlain = false
      end = Math.min(end + 2, this.text.length)
    }
    const text = isPlain ? this.text.slice(start + 1, end) : this.unescape(start, end + 1, isKey)
    this.pos = end + 1
    return text
  }

  /** Refuses a string that contains a control character at this place, or ends there without a quote. */
  endless(at: number): never {
    this.pos = at
    if (at >= this.text.length) this.unexpected('the closing quote of a string')
    this.fail('syntax', 'A control character stands inside a string; write it as an escape, such as \\n.')
  }

  /**
   * The value of the string literal between two offsets. `JSON.parse` keeps strings exactly and decodes escapes faster than code here could. If it
   * refuses the literal, we look for the place of the error.
   */
  unescape(start: number, end: number, isKey: boolean): string {
    let text: string
    try {
      // The literal begins and ends with a quote, so it can only be a string.
      text = JSON.parse(this.text.slice(start, end)) as string
    } catch {
      return this.failAtEscape(start)
    }
    if (!text.isWellFormed()) this.loneSurrogate(isKey)
    return text
  }

  loneSurrogate(isKey: boolean): never {
    this.fail(
      'lone_surrogate',
      `${isKey ? 'A key' : 'The string'} holds half of a surrogate pair; send whole characters.`,
    )
  }

  failAtEscape(start: number): never {
    this.pos = this.badEscape(start)
    const found = JSON.stringify(this.text.charAt(this.pos + 1))
    this.fail('syntax', `A backslash before ${found} is no escape of JSON; write \\\\ for a backslash.`)
  }

  /** The position of the first backslash that begins no valid escape, in a literal that begins at `start` and has such a backslash. */
  badEscape(start: number): number {
    for (let at = start; ; at++) {
      if (this.text.charCodeAt(at) !== BACKSLASH) continue
      HEX.lastIndex = at + 2
      const isHex = this.text.charCodeAt(at + 1) === LOWER_U && HEX.test(this.text)
      if (!isHex && !'"\\/bfnrt'.includes(this.text.charAt(at + 1))) return at
      at += isHex ? 5 : 1
    }
  }

  /** Refuses a text that begins like a number, at the place where it is wrong. */
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

  givenTwice(key: string, at: number): never {
    this.pos = at
    const found = JSON.stringify(boundedText(key, LONGEST_SHOWN))
    this.fail('duplicate_key', `The key ${found} is given twice in one object; give it once.`)
  }

  tooDeep(): never {
    this.fail('too_deep', `The value is nested more than ${this.maxDepth} levels deep; send a flatter one.`)
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
    const path = this.path.map((step) => (typeof step === 'string' ? boundedText(step, LONGEST_SHOWN) : step))
    throw new JsonTextError(kind, sentence, this.text, this.pos, path)
  }
}
