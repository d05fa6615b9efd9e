import type { TimeSlice } from '../../scheduling/cooperative.ts'
import { isLight } from '../is-light.ts'
import {
  ExactNumber,
  type Json,
  entriesOf,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  membersOf,
} from '../json.ts'

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

/** The same of heavy values, in slices. */
export async function equalInSlices(a: Json, b: Json | undefined, slice: TimeSlice): Promise<boolean> {
  if (b === undefined) return false
  if (isLight(a) || isLight(b)) return equalJson(a, b)
  const [ofA, ofB] = [membersIn(a), membersIn(b)]
  if (ofA === undefined || ofB === undefined || isJsonArray(a) !== isJsonArray(b)) return equalJson(a, b)
  if (ofA.size !== ofB.size) return false
  let isEqual = true
  await slice.each(ofA.entries, ([key, member]) => {
    if (!isEqual) return undefined
    const other = ofB.get(key)
    if (isLight(member)) isEqual = equalMember(member, other)
    else
      return equalInSlices(member, other, slice).then((equal) => {
        isEqual &&= equal
      })
    return undefined
  })
  return isEqual
}

interface Members {
  readonly size: number
  readonly entries: Iterable<readonly [string | number, Json]>
  get(key: string | number): Json | undefined
}

function membersIn(value: Json): Members | undefined {
  if (isJsonArray(value))
    return { size: value.length, entries: value.entries(), get: (index) => value[Number(index)] }
  if (!isJsonObject(value)) return undefined
  const size = value instanceof Map ? value.size : keysOf(value).length
  return { size, entries: membersOf(value), get: (key) => getKey(value, String(key)) }
}

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber
}

function equalNumbers(a: number | ExactNumber, b: number | ExactNumber): boolean {
  // two doubles would have been the same above; a plain number stands for the literal that prints it
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
  // the power may be past every safe integer; past a thousand digits, where even reading it takes long, spelling counts
  if (power.length > 1000) return literal
  const exponent = BigInt(power) + BigInt(digits.length - end - fraction.length)
  return `${literal.startsWith('-') ? '-' : ''}${digits.slice(start, end)}e${exponent}`
}

function equalMember(a: Json, b: Json | undefined): boolean {
  return b !== undefined && equalJson(a, b)
}
