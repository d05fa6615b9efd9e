import { ExactNumber, type Json, entriesOf, fromEntries, isJsonArray } from '../../../base/json.ts'
import { pythonQuoted } from '../python-repr.ts'
import { TemplateFailure } from '../template-format.ts'

/** The cost of a list item, where a text costs 1 per character. */
export const ITEM_SIZE = 64

/**
 * A value in Jinja2: a bigint is Python's int, a number its float. An `ExactNumber` is a float with more
 * digits than a double holds; it keeps them until it is used in a computation.
 */
export type JinjaValue =
  | Missing
  | null
  | boolean
  | bigint
  | number
  | ExactNumber
  | string
  | Markup
  | JinjaValue[]
  | Tuple
  | View
  | Map<JinjaKey, JinjaValue>
  | Bag
  | Callable

/** A dictionary's key; `true` and `1.0` are stored as the equal int. */
export type JinjaKey = string | bigint | number | null

/** The value of an undefined name: an empty text that allows no other use. */
export class Missing {
  /** The name to show in messages. */
  readonly what: string

  constructor(what: string) {
    this.what = what
  }
}

/** A text that is already escaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A tuple; its items may have names, as those of `groupby` have. */
export class Tuple {
  readonly items: readonly JinjaValue[]
  readonly names: readonly string[]

  constructor(items: readonly JinjaValue[], names: readonly string[] = []) {
    this.items = items
    this.names = names
  }
}

/** An iterable that is no list: a range, the keys of a dictionary. */
export class View {
  readonly items: readonly JinjaValue[]
  /** Its text form: `dict_keys`, shown with its items, or `range(0, 5)`. */
  readonly shown: string

  constructor(items: readonly JinjaValue[], shown: string) {
    this.items = items
    this.shown = shown
  }
}

/** An object with attributes but no items: a namespace, `loop`, a `cycler`. */
export class Bag {
  readonly kind: string
  readonly attributes: Map<string, JinjaValue>
  /** Its function, if it can be called. */
  readonly call: Callable['call'] | undefined

  constructor(kind: string, attributes: Map<string, JinjaValue>, call?: Callable['call']) {
    this.kind = kind
    this.attributes = attributes
    this.call = call
  }
}

/** A callable value: `range`, a macro, a method. */
export class Callable {
  readonly name: string
  readonly call: (args: CallArguments) => JinjaValue

  constructor(name: string, call: (args: CallArguments) => JinjaValue) {
    this.name = name
    this.call = call
  }
}

export interface CallArguments {
  readonly positional: readonly JinjaValue[]
  readonly named: ReadonlyMap<string, JinjaValue>
}

/** Type guards for values. */
export const isText = (value: JinjaValue): value is string | Markup =>
  typeof value === 'string' || value instanceof Markup
export const isFloat = (value: JinjaValue): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber
export const isNumber = (value: JinjaValue): value is bigint | number | ExactNumber =>
  typeof value === 'bigint' || isFloat(value)
export const isDict = (value: JinjaValue): value is Map<JinjaKey, JinjaValue> => value instanceof Map

/** The name of a value's type, for messages. */
export function kindOf(value: JinjaValue): string {
  if (value instanceof Missing) return 'nothing'
  if (value === null) return 'none'
  if (typeof value === 'boolean') return 'a boolean'
  if (isNumber(value)) return 'a number'
  if (isText(value)) return 'a text'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Tuple) return 'a tuple'
  if (value instanceof View) return 'a view'
  if (isDict(value)) return 'a dictionary'
  return value instanceof Bag ? `a ${value.kind}` : 'a function'
}

/** Parses an int in any of Python's bases. */
export function wholeNumber(digits: string): bigint {
  if (digits.length > MOST_DIGITS) throw tooManyDigits()
  return BigInt(digits.replace(/^0+(?=[0-9])/, ''))
}

/** Python's limit on the digits of an int. */
const MOST_DIGITS = 4300
const MOST_INT = 10n ** BigInt(MOST_DIGITS)

/** Returns an int, unless it has too many digits to be written. */
export function bounded(int: bigint): bigint {
  if (int < MOST_INT && int > -MOST_INT) return int
  throw tooManyDigits()
}

export function tooManyDigits(): TemplateFailure {
  return new TemplateFailure(`The template makes a number of more than ${MOST_DIGITS} digits.`)
}

export function floatOf(value: bigint | number | ExactNumber | boolean): number {
  return value instanceof ExactNumber ? Number(value.literal) : Number(value)
}

/** Conversions of variables, which are immutable, for reuse. */
const converted = new WeakMap<object, JinjaValue>()

/** Whether a value is a variable of the template, and therefore immutable. */
export function isGiven(value: JinjaValue): boolean {
  return typeof value === 'object' && value !== null && given.has(value)
}

const given = new WeakSet()

/** Converts JSON to a value. */
export function valueOfJson(json: Json): JinjaValue {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (typeof json !== 'object' || json === null) return json
  if (json instanceof ExactNumber) return valueOfLiteral(json)
  const known = converted.get(json)
  if (known !== undefined) return known
  const value: JinjaValue = isJsonArray(json)
    ? json.map(valueOfJson)
    : new Map(entriesOf(json).map(([key, member]) => [key, valueOfJson(member)] as const))
  converted.set(json, value)
  given.add(value)
  return value
}

function valueOfLiteral(number: ExactNumber): JinjaValue {
  const { literal } = number
  if (/^-?[0-9]+$/.test(literal)) return literal.length > MOST_DIGITS ? number : BigInt(literal)
  const double = Number(literal)
  return floatText(double) === literal ? double : number
}

/**
 * Converts a value to JSON. Calls `spend` before descending into each value, because nested lists could grow
 * without bound. Throws a `TemplateFailure` for a value that JSON cannot express.
 */
export function jsonOfValue(value: JinjaValue, spend: (size: number) => void): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'bigint') return new ExactNumber(String(value))
  // Python's JSON writes these as words
  if (typeof value === 'number')
    return new ExactNumber(Number.isFinite(value) ? floatText(value) : wordOfNone(value))
  if (value instanceof ExactNumber) return value
  if (value instanceof Markup) return value.text
  spend(ITEM_SIZE)
  if (Array.isArray(value) || value instanceof Tuple) {
    return itemsIn(value).map((item) => jsonOfValue(item, spend))
  }
  if (isDict(value)) {
    return fromEntries([...value].map(([key, member]) => [jsonKey(key), jsonOfValue(member, spend)] as const))
  }
  if (value instanceof Missing)
    throw new TemplateFailure(`'${value.what}' is missing, so it cannot become JSON.`)
  throw new TemplateFailure(`${capital(kindOf(value))} cannot become JSON.`)
}

function wordOfNone(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
}

function itemsIn(value: JinjaValue[] | Tuple): readonly JinjaValue[] {
  return Array.isArray(value) ? value : value.items
}

function jsonKey(key: JinjaKey): string {
  if (key === null) return 'null'
  return typeof key === 'number' ? floatText(key) : String(key)
}

/** Capitalises the first letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A float as Python shows it: the shortest exact digits, `1.0`, `1e+16`, `inf`. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [digits = '', power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 16) {
    const text = String(value)
    return text.includes('.') ? text : `${text}.0`
  }
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${digits}e${exponent < 0 ? '-' : '+'}${size}`
}

/**
 * A value as text, as Python's `str()` shows it; a missing value is empty. `spend` receives the length of
 * each piece.
 */
export function shownText(value: JinjaValue, spend: (size: number) => void): string {
  if (typeof value === 'string') return value
  if (value instanceof Markup) return value.text
  return value instanceof Missing ? '' : reprText(value, spend)
}

/**
 * A value as Python's `repr()` shows it. Throws a `TemplateFailure` for functions and objects that have only
 * attributes.
 */
export function reprText(value: JinjaValue, spend: (size: number) => void): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'bigint') return spent(String(value), spend)
  if (typeof value === 'number') return floatText(value)
  if (value instanceof ExactNumber) return spent(value.literal, spend)
  if (typeof value === 'string') return spent(pythonQuoted(value), spend)
  if (value instanceof Markup) return `Markup(${spent(pythonQuoted(value.text), spend)})`
  if (value instanceof Missing) return 'Undefined'
  if (Array.isArray(value)) return `[${reprItems(value, spend)}]`
  if (value instanceof Tuple)
    return `(${reprItems(value.items, spend)}${value.items.length === 1 ? ',' : ''})`
  if (value instanceof View)
    return value.shown.endsWith(')') ? value.shown : `${value.shown}([${reprItems(value.items, spend)}])`
  if (isDict(value)) {
    const members = [...value].map(([key, member]) => `${reprText(key, spend)}: ${reprText(member, spend)}`)
    return `{${members.join(', ')}}`
  }
  if (value instanceof Callable)
    throw new TemplateFailure(`A function is no text; call it with (): ${value.name}().`)
  throw new TemplateFailure(`A ${value.kind} is no text; write one of its attributes.`)
}

function reprItems(items: readonly JinjaValue[], spend: (size: number) => void): string {
  spend(2 + 2 * items.length)
  return items.map((item) => reprText(item, spend)).join(', ')
}

function spent(text: string, spend: (size: number) => void): string {
  spend(text.length + 2)
  return text
}

/** Whether a value is true; missing values, none, zero and empty values are not. */
export function isTrue(value: JinjaValue): boolean {
  if (value === null || value instanceof Missing) return false
  if (isText(value)) return jinjaText(value) !== ''
  if (typeof value === 'boolean') return value
  if (isNumber(value)) return floatOf(value) !== 0
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Tuple || value instanceof View) return value.items.length > 0
  return isDict(value) ? value.size > 0 : true
}

export function jinjaText(value: string | Markup): string {
  return typeof value === 'string' ? value : value.text
}

/** The number that a value counts as in arithmetic; booleans are 1 and 0. Undefined for other values. */
export function jinjaNumber(value: JinjaValue): bigint | number | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'bigint' || typeof value === 'number') return value
  return value instanceof ExactNumber ? Number(value.literal) : undefined
}

/** Converts a value to a dictionary's key. Throws a `TemplateFailure` if it cannot be one. */
export function keyOf(value: JinjaValue): JinjaKey {
  if (value === null) return null
  if (isText(value)) return jinjaText(value)
  const number = jinjaNumber(value)
  if (number === undefined)
    throw new TemplateFailure(`${capital(kindOf(value))} cannot be a key of a dictionary.`)
  return typeof number === 'number' && Number.isInteger(number) ? BigInt(number) : number
}

export function sequenceIn(value: JinjaValue): readonly JinjaValue[] | undefined {
  if (Array.isArray(value)) return value
  return value instanceof Tuple || value instanceof View ? value.items : undefined
}

/** Replaces undefined with another value. `null` is a value, as Python's None is. */
export function orElse<Value, Other>(value: Value | undefined, otherwise: Other): Value | Other {
  return value === undefined ? otherwise : value
}
