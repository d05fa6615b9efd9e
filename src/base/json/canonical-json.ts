import { ExactNumber, ExactObject, type Json, type JsonObject, isJsonArray, keysOf } from './json.ts'

/**
 * The one text of a value: RFC 8785 (no spaces, keys sorted by UTF-16 code units at every level, strings and numbers as
 * ECMAScript writes them), except that a number a double would change keeps its literal (`1.0`, `1e400`, twenty digits), so
 * that nothing is lost. Key order of `value` makes no difference; two spellings of one number do. Throws TypeError for NaN
 * and the infinities. One call a level, as `parseJson` has.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return String(value)
    throw new TypeError(`JSON cannot say ${value}; give a finite number.`)
  }
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof ExactNumber) return value.literal
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join()}]`
  return `{${canonicalMembers(value).texts.join()}}`
}

/** The members of an object as its canonical text has them, in its order. */
export interface CanonicalMembers {
  readonly keys: readonly string[]
  /** Each `"key":value`. */
  readonly texts: readonly string[]
}

/** What lies between the braces of an object's canonical text, to be joined by commas. */
export function canonicalMembers(value: JsonObject): CanonicalMembers {
  const exact = value instanceof ExactObject
  const keys = keysOf(value).sort()
  // every key listed is its own, so it has a value
  const texts = keys.map(
    (key) => `${quote(key)}:${canonicalJson((exact ? value.get(key) : value[key]) as Json)}`,
  )
  return { keys, texts }
}

/** What `JSON.stringify` would escape: quotes, backslashes, control characters. Surrogates are left to it as well. */
const UNUSUAL = /["\\\u0000-\u001f\ud800-\udfff]/

function quote(text: string): string {
  return UNUSUAL.test(text) ? JSON.stringify(text) : `"${text}"`
}
