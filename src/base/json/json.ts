/**
 * JSON values that hold a text exactly (interface 2.9). Ordinary values are plain JavaScript; two classes stand for what
 * JavaScript cannot hold: a number a double would change, and an object whose keys it would reorder or swallow.
 */
export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonObject

/** An object in either representation; use the functions below instead of indexing it. */
export type JsonObject = PlainObject | ExactObject

/** An object whose keys JavaScript keeps in the order of the text, each an own property. */
export interface PlainObject {
  readonly [key: string]: Json
}

/** A number literal that does not come back digit for digit from a double: `1.0`, `-0`, `1e400`, twenty digits. */
export class ExactNumber {
  readonly literal: string

  /** `literal` must be a number in the syntax of RFC 8259; only the parser makes these, and it has checked that. */
  constructor(literal: string) {
    this.literal = literal
  }
}

/** An object with more keys is held as a map, which takes keys and lists them at an even pace however many there are. */
export const MOST_PLAIN_KEYS = 5000

/** An object that has an integer-like key, which JavaScript would move to the front, the key `__proto__`, or very many keys. */
export class ExactObject extends Map<string, Json> {}

/** Whether `value` is an object in either representation: neither array nor number nor null. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

/** Whether `value` is an array (`Array.isArray` does not narrow readonly arrays). */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The object's own member `key`; undefined if it has none (never something of the prototype's). */
export function getKey(object: JsonObject, key: string): Json | undefined {
  if (object instanceof ExactObject) return object.get(key)
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Follows the keys from one member to the next; undefined if one of them is missing. */
export function getPath(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  let found = value
  for (const key of keys) found = isJsonObject(found) ? getKey(found, key) : undefined
  return found
}

/** Whether the object has a member `key` of its own. */
export function hasKey(object: JsonObject, key: string): boolean {
  return object instanceof ExactObject ? object.has(key) : Object.hasOwn(object, key)
}

/** The keys in the order of the text. */
export function keysOf(object: JsonObject): string[] {
  return object instanceof ExactObject ? [...object.keys()] : Object.keys(object)
}

/** The members in the order of the text. */
export function entriesOf(object: JsonObject): [string, Json][] {
  return object instanceof ExactObject ? [...object] : Object.entries(object)
}

/** The members in the order of the text, one by one, so that an object with very many members is not copied into a list. */
export function membersOf(object: JsonObject): Iterable<[string, Json]> {
  return object instanceof ExactObject ? object : Object.entries(object)
}

/** The members of an array or an object, one by one, each behind its index or key; none of any other value. */
export function membersAt(value: Json): Iterable<readonly [string | number, Json]> {
  if (isJsonArray(value)) return value.entries()
  return isJsonObject(value) ? membersOf(value) : []
}

/** An object with these members in this order. A repeated key keeps its first place and its last value. */
export function fromEntries(entries: Iterable<readonly [string, Json]>): JsonObject {
  const members = new ExactObject(entries)
  const isExact = members.size > MOST_PLAIN_KEYS || [...members.keys()].some(isAwkwardKey)
  return isExact ? members : Object.fromEntries(members)
}

/** A new object in which `key` is `value`: in its old place, or last when it is new. */
export function withKey(object: JsonObject, key: string, value: Json): JsonObject {
  // A schema may have let through the key `__proto__`. Assigning it would set the prototype.
  if (object instanceof ExactObject || isAwkwardKey(key) || Object.hasOwn(object, '__proto__'))
    return new ExactObject(entriesOf(object)).set(key, value)
  // V8 makes a hidden class for each object that a literal begins with a spread and goes on with another key.
  return Object.assign({}, object, { [key]: value })
}

/** A new object without the member `key`; the same object if it has none. */
export function withoutKey(object: JsonObject, key: string): JsonObject {
  if (!hasKey(object, key)) return object
  const members = new Map(entriesOf(object))
  members.delete(key)
  return fromEntries(members)
}

/** The nearest double to a number of either representation (±Infinity past its range); undefined for anything else. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  return value instanceof ExactNumber ? Number(value.literal) : undefined
}

/**
 * Whether a plain object cannot hold `key` where the text has it. JavaScript moves array indexes (up to 4294967294) to
 * the front; any canonical integer of at most ten digits counts here, which is never wrong and quick to tell.
 */
export function isAwkwardKey(key: string): boolean {
  const first = key.charCodeAt(0)
  if (first >= 48 && first <= 57) return key.length <= 10 && /^(?:0|[1-9][0-9]*)$/.test(key)
  return first === 95 && key === '__proto__'
}

/** Makes a key an own one, `__proto__` too: assigning to that would call its setter, and defining every key is slower than assigning. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/**
 * Whether two values say the same: key order does not count, array order does, and numbers are equal when their decimal
 * values are exactly (`1.0`, `1` and `10e-1` are; two twenty-digit numbers that share a double are not).
 */
export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (isNumber(a)) return isNumber(b) && equalNumbers(a, b)
  if (isJsonArray(a)) {
    return isJsonArray(b) && a.length === b.length && a.every((item, index) => equalMember(item, b[index]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  if (keysOf(a).length !== keysOf(b).length) return false
  return entriesOf(a).every(([key, member]) => equalMember(member, getKey(b, key)))
}

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber
}

function equalNumbers(a: number | ExactNumber, b: number | ExactNumber): boolean {
  // Two doubles were compared above. A plain number equals a literal if both have the same decimal value.
  if (typeof a === 'number' && typeof b === 'number') return false
  return decimalOf(a) === decimalOf(b)
}

/** The one spelling of a number's decimal value: sign, digits without zeros at either end, power of ten. */
function decimalOf(number: number | ExactNumber): string {
  const literal = typeof number === 'number' ? String(number) : number.literal
  const unsigned = literal.startsWith('-') ? literal.slice(1) : literal
  const [mantissa = '', power = '0'] = unsigned.split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  let start = 0
  while (digits.charAt(start) === '0') start++
  if (start === digits.length) return '0'
  let end = digits.length
  while (digits.charAt(end - 1) === '0') end--
  // The exponent may be larger than any safe integer. With more than a thousand digits, only literals of the same spelling are equal.
  if (power.length > 1000) return literal
  const exponent = BigInt(power) + BigInt(digits.length - end - fraction.length)
  return `${literal.startsWith('-') ? '-' : ''}${digits.slice(start, end)}e${exponent}`
}

function equalMember(a: Json, b: Json | undefined): boolean {
  return b !== undefined && equalJson(a, b)
}

/**
 * The value as ordinary JavaScript, for readers that know nothing else (ajv, zod). It loses what the exact classes
 * hold: numbers become the nearest double, integer-like keys move to the front. `__proto__` becomes an own key and
 * never a prototype. So nothing that was made from the answer may be stored.
 */
export function plainJson(value: Json): unknown {
  if (value instanceof ExactNumber) return Number(value.literal)
  if (isJsonArray(value)) return value.map(plainJson)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(entriesOf(value).map(([key, member]) => [key, plainJson(member)]))
}

/** A key as RFC 6901 writes it in a pointer. */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The keys of a pointer, those of arrays as digits. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
