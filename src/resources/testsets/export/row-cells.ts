import { isUtf8 } from 'node:buffer'
import { canonicalJson } from '../../../json/canonical-json.ts'
import type { Json } from '../../../json/json.ts'
import { parseJson } from '../../../json/parse-json.ts'

/** A string whose bytes are not what it says: it has escapes, of one letter each. */
export const ESCAPED = 1
/** A string with a comma, a quote, a line break or U+FEFF in it. */
export const NEEDS_QUOTES = 2
/** Any other value, or a string with an escape that canonical JSON would not have there. */
export const VALUE = 4
/** No value. */
export const MISSING = 8

/**
 * Where the members of one row after the other stand in its blob, for whoever copies them from there: making an object of a row,
 * and text of that again, takes several times as long.
 */
export class RowCells {
  /** The row that was found last. */
  bytes: Buffer = Buffer.alloc(0)
  /** What each member is: `MISSING`, `VALUE`, or of a string whether it is `ESCAPED`, `NEEDS_QUOTES`, both or neither. */
  readonly kinds: Uint8Array
  /** Of strings: where they begin and end, between their quotes. The member's name stands before the first. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Of each `VALUE`: what it is. */
  readonly values: Json[]
  /** The key of each member as rows have it, with quotes and colon. */
  readonly names: readonly Buffer[]
  readonly #numbers: ReadonlyMap<string, number>
  #isAscii = true

  /** `keys` are all that rows may have, in any order. */
  constructor(keys: readonly string[]) {
    // as canonical JSON has them: then no row has any before the one that is expected next
    const sorted = [...new Set(keys)].sort()
    this.#numbers = new Map(sorted.map((key, number) => [key, number]))
    this.names = sorted.map((key) => Buffer.from(`${canonicalJson(key)}:`))
    this.kinds = new Uint8Array(sorted.length)
    this.starts = new Int32Array(sorted.length)
    this.ends = new Int32Array(sorted.length)
    this.values = new Array<Json>(sorted.length)
  }

  /** The number that a key's members have in each row. Throws for a key that was not given. */
  numberOf(key: string): number {
    const number = this.#numbers.get(key)
    if (number === undefined) throw new RangeError(`${JSON.stringify(key)} is none of the keys`)
    return number
  }

  /**
   * Finds the members of a row. False for one that has another key, is not laid out as we write rows or is damaged: only
   * `decodeRow` knows what to make of that.
   */
  find(bytes: Buffer): boolean {
    this.bytes = bytes
    this.kinds.fill(MISSING)
    this.#isAscii = true
    if (bytes[0] !== OPEN_BRACE) return false
    let at = bytes[1] === CLOSE_BRACE ? 1 : 0
    for (let number = 0; bytes[at] !== CLOSE_BRACE; number++) {
      if (at > 0 && bytes[at] !== COMMA) return false
      at++
      while (number < this.names.length && !standsAt(this.names[number]!, bytes, at)) number++ // number < length
      const name = this.names[number]
      if (!name) return false
      at += name.length
      at = bytes[at] === QUOTE ? this.#findString(number, bytes, at) : this.#findValue(number, bytes, at)
      if (at < 0) return false
    }
    return bytes[at + 1] === NEWLINE && bytes.length === at + 2 && (this.#isAscii || isUtf8(bytes))
  }

  /** What a member is, whatever its kind; undefined for one that is missing. */
  valueOf(number: number): Json | undefined {
    const kind = this.kinds[number]
    if (kind === MISSING) return undefined
    if (kind === VALUE) return this.values[number]
    const [start, end] = [this.starts[number] ?? 0, this.ends[number] ?? 0]
    return parseJson(this.bytes.toString('utf8', start - 1, end + 1))
  }

  /** Answers where the string that begins at `quote` has ended; negative if it is none. */
  #findString(number: number, bytes: Buffer, quote: number): number {
    let kind = 0
    let at = quote + 1
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
      const sort = SORT[byte ?? 0]
      if (sort === ORDINARY) continue
      if (sort === FORBIDDEN) return -1
      if (sort === SEPARATOR) kind |= NEEDS_QUOTES
      else if (sort === ESCAPE) kind |= KIND_OF_ESCAPED[bytes[++at] ?? 0] ?? VALUE
      else {
        this.#isAscii = false
        if (byte === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) kind |= NEEDS_QUOTES
      }
    }
    if (kind >= VALUE) return this.#parse(number, bytes, quote, at + 1)
    this.kinds[number] = kind
    this.starts[number] = quote + 1
    this.ends[number] = at
    return at + 1
  }

  /** The same for any other value: up to the comma or brace behind it. */
  #findValue(number: number, bytes: Buffer, start: number): number {
    let depth = 0
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]
      if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACE))
        return this.#parse(number, bytes, start, at)
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
      else if (byte === QUOTE) {
        while (++at < bytes.length && bytes[at] !== QUOTE) if (bytes[at] === BACKSLASH) at++
      }
    }
    return -1
  }

  #parse(number: number, bytes: Buffer, start: number, end: number): number {
    try {
      this.values[number] = parseJson(bytes.toString('utf8', start, end), { maxDepth: 127 })
    } catch {
      return -1
    }
    this.kinds[number] = VALUE
    return end
  }
}

const NEWLINE = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** What a byte in a string is. */
const ORDINARY = 0
const SEPARATOR = 1
const ESCAPE = 2
const FORBIDDEN = 3
const WIDE = 4

const SORT = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x20) return FORBIDDEN
  if (byte >= 0x80) return WIDE
  if (byte === COMMA) return SEPARATOR
  return byte === BACKSLASH ? ESCAPE : ORDINARY
})

/** What a string is that has this letter behind a backslash. */
const KIND_OF_ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte)
  if ('"nr'.includes(letter)) return ESCAPED | NEEDS_QUOTES
  return '\\btf'.includes(letter) ? ESCAPED : VALUE
})

function standsAt(text: Buffer, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at++) if (text[at] !== bytes[start + at]) return false
  return true
}
