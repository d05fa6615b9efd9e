import { TimeSlice } from '../scheduling/cooperative.ts'
import { isLight } from './is-light.ts'
import { quotedKey } from './json-values.ts'
import type { Json } from './json.ts'
import { ExactObject, isJsonArray } from './json.ts'
import { stringifyJson, writeJson } from './stringify-json.ts'

export interface PrintOptions {
  /** As `stringifyJson` takes it. */
  readonly indent?: 2 | undefined
  /** Gives up, and answers undefined, as soon as a heavy value's text is longer than so many bytes. */
  readonly maxBytes?: number
  /** Follows the value. */
  readonly ending?: string
  readonly stop?: AbortSignal | undefined
}

/** The JSON text of a value as `stringifyJson` writes it, a light one's at once, a heavier one's in slices, and in UTF-8. */
export function printJson(value: unknown): string | Promise<Buffer> {
  return isLight(value) ? stringifyJson(value) : printHeavy(value, {}).then(whole)
}

function whole(bytes: Buffer | undefined): Buffer {
  return bytes ?? Buffer.alloc(0) // without a limit there always are some
}

/** The JSON text of a value that is not light, in slices. */
export async function printHeavy(
  value: unknown,
  { indent, maxBytes = Infinity, ending = '', stop }: PrintOptions,
): Promise<Buffer | undefined> {
  const printer = new Printer(new TimeSlice(stop), maxBytes)
  await printer.write(value, indent === undefined ? '' : '\n')
  return printer.end(ending)
}

/** When the text reaches this length, it is converted to bytes. Joining one very long string would block for a time that grows with its length. */
const PIECE = 32 * 1024

const CHARACTERS_QUOTED_AT_ONCE = 256 * 1024

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

class Printer {
  readonly #slice: TimeSlice
  readonly #maxBytes: number
  readonly #pieces: Buffer[] = []
  #bytes = 0
  #text = ''

  constructor(slice: TimeSlice, maxBytes: number) {
    this.#slice = slice
    this.#maxBytes = maxBytes
  }

  /** Whether there is more text already than was asked for. */
  get isFull(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** Light members are written at once, so that promises and slices cost next to nothing for each value. */
  async write(value: unknown, margin: string): Promise<void> {
    if (typeof value === 'string') await this.#string(value)
    else if (!isContainer(value) || isLight(value)) this.#text += writeJson(value, margin)
    else if (Array.isArray(value)) await this.#array(value, margin)
    else await this.#object(value, margin)
    if (this.#text.length >= PIECE) await this.#put()
  }

  end(ending: string): Buffer | undefined {
    const bytes = Buffer.from(this.#text + ending)
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    return this.isFull ? undefined : Buffer.concat(this.#pieces, this.#bytes)
  }

  /** A long text is written in parts, none of which ends within a character. */
  async #string(text: string): Promise<void> {
    this.#text += '"'
    for (let at = 0; at < text.length;) {
      let end = Math.min(text.length, at + CHARACTERS_QUOTED_AT_ONCE)
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--
      this.#text += JSON.stringify(text.slice(at, end)).slice(1, -1)
      at = end
      if (this.#text.length >= PIECE) await this.#put()
      if (this.isFull) return
    }
    this.#text += '"'
  }

  async #array(items: readonly unknown[], margin: string): Promise<void> {
    const inner = margin === '' ? '' : margin + '  '
    let opening = '['
    for (const item of items) {
      this.#text += opening + inner
      opening = ','
      if (isLight(item)) this.#text += writeJson(item, inner)
      else await this.write(item, inner)
      if (this.#text.length >= PIECE) await this.#put()
      if (this.isFull) return
    }
    this.#text += opening === '[' ? '[]' : margin + ']'
  }

  async #object(object: object, margin: string): Promise<void> {
    const inner = margin === '' ? '' : margin + '  '
    let opening = '{'
    for (const [key, member] of membersOf(object)) {
      if (member === undefined) continue
      this.#text += opening + inner + quotedKey(key) + (inner === '' ? ':' : ': ')
      opening = ','
      if (isLight(member)) this.#text += writeJson(member, inner)
      else await this.write(member, inner)
      if (this.#text.length >= PIECE) await this.#put()
      if (this.isFull) return
    }
    this.#text += opening === '{' ? '{}' : margin + '}'
  }

  async #put(): Promise<void> {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    if (this.#slice.isOver) await this.#slice.rest()
  }
}

/** What has members; anything else is written, or refused, by `writeJson`. */
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    prototype === Object.prototype ||
    prototype === null ||
    isJsonArray(value as Json) ||
    value instanceof ExactObject
  )
}

function membersOf(object: object): Iterable<[string, unknown]> {
  return object instanceof ExactObject ? object : Object.entries(object)
}
