import { quotedKey } from './json-values.ts'
import { ExactNumber, ExactObject } from './json.ts'

/** A ready JSON text that is written as it stands, without being read: `data` that is only passed through. */
export class JsonText {
  readonly text: string

  /** The caller vouches that `text` is one JSON value; an indented text keeps the margins it has. */
  constructor(text: string) {
    this.text = text
  }
}

/**
 * The JSON text of a value, compact or with two-space indentation (laid out as `JSON.stringify` does), every number and
 * key as it was read (interface 2.9). Takes `Json`, ready texts anywhere in it, and records of our own; a member that is
 * undefined is left out. Throws TypeError for what JSON has no word for (NaN, infinities, undefined elsewhere, bigints,
 * functions, dates and other instances) where `JSON.stringify` would write something else in silence. One call a level:
 * what `parseJson` accepted is far from the end of the stack.
 */
export function stringifyJson(value: unknown, indent?: 2): string {
  return writeJson(value, indent === undefined ? '' : '\n')
}

/** `margin` is the line break and spaces before a closing bracket at this level; '' writes everything on one line. */
export function writeJson(value: unknown, margin: string): string {
  if (typeof value === 'string') return JSON.stringify(value)
  // String(-0) is 0 as well: a minus that arithmetic left behind was in no text
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value !== 'object') throw unspeakable(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    // a plain object: any string may be asked of it, and only its own keys are
    return writeObject(value as Readonly<Record<string, unknown>>, margin)
  }
  if (Array.isArray(value)) return writeArray(value, margin)
  if (value instanceof ExactNumber) return value.literal
  if (value instanceof JsonText) return value.text
  if (value instanceof ExactObject) return writeMap(value, margin)
  throw unspeakable(value)
}

function writeArray(items: readonly unknown[], margin: string): string {
  const inner = margin === '' ? '' : margin + '  '
  let text = ''
  for (const item of items) text += (text === '' ? '[' : ',') + inner + writeJson(item, inner)
  return text === '' ? '[]' : text + margin + ']'
}

function writeMap(members: ReadonlyMap<string, unknown>, margin: string): string {
  const inner = margin === '' ? '' : margin + '  '
  let text = ''
  for (const [key, value] of members) text += member(text === '', key, value, inner)
  return text === '' ? '{}' : text + margin + '}'
}

/** By itself, although it differs in one line: a function that is told how to get a member takes twice as long. */
function writeObject(plain: Readonly<Record<string, unknown>>, margin: string): string {
  const inner = margin === '' ? '' : margin + '  '
  let text = ''
  for (const key of Object.keys(plain)) text += member(text === '', key, plain[key], inner)
  return text === '' ? '{}' : text + margin + '}'
}

function member(isFirst: boolean, key: string, value: unknown, inner: string): string {
  if (value === undefined) return ''
  return (
    (isFirst ? '{' : ',') + inner + quotedKey(key) + (inner === '' ? ':' : ': ') + writeJson(value, inner)
  )
}

function unspeakable(value: unknown): TypeError {
  const what = typeof value === 'object' ? `an instance of ${value?.constructor.name}` : String(value)
  return new TypeError(
    `JSON cannot say ${what}; give strings, finite numbers, booleans, null, arrays and objects.`,
  )
}
