import { type Json, entriesOf, isJsonArray, isJsonObject } from '../../base/json.ts'
import { wordOf } from './value-text.ts'

/**
 * A value as Python shows it: `{'a': [1, None], 'b': "it's"}` (interface 11.22: objects and arrays in fstring
 * and jinja2). `spend` receives the length of each piece before the next is built, and may throw.
 */
export function pythonRepr(value: Json, spend: (characters: number) => void = free): string {
  if (isJsonArray(value)) {
    spend(2)
    return `[${value.map((item) => pythonRepr(item, spend)).join(', ')}]`
  }
  if (isJsonObject(value)) {
    spend(2)
    const members = entriesOf(value).map(([key, member]) => {
      spend(key.length + 4)
      return `${pythonQuoted(key)}: ${pythonRepr(member, spend)}`
    })
    return `{${members.join(', ')}}`
  }
  const text = typeof value === 'string' ? pythonQuoted(value) : wordOf(value)
  spend(text.length + 2)
  return text
}

/** A value as `str()` shows it: a string unchanged, everything else as `pythonRepr` does. */
export function pythonText(value: Json, spend: (characters: number) => void = free): string {
  return typeof value === 'string' ? value : pythonRepr(value, spend)
}

/** Escapes non-ASCII characters, as `ascii()` does to a repr. */
export function asciiOnly(repr: string): string {
  return repr.replace(/[^\0-\x7f]/gu, escaped)
}

function free(): void {}

/** Quotes a text as Python does: in single quotes, unless it contains these and no double quotes. */
export function pythonQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const inner = text
    .replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character)
    .replaceAll(quote, `\\${quote}`)
    // unprintable characters, and every space except the ASCII one
    .replace(/(?! )[\p{C}\p{Z}]/gu, escaped)
  return quote + inner + quote
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const [letter, digits] = point < 0x100 ? ['x', 2] : point < 0x10000 ? ['u', 4] : ['U', 8]
  return `\\${letter}${point.toString(16).padStart(digits, '0')}`
}
