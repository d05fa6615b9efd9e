import { type Json, ExactNumber, isJsonArray, isJsonObject } from '../../base/json.ts'
import { spacedJson } from './spaced-json.ts'

/**
 * The text of a placeholder's value (interface 11.21): strings unchanged, objects and arrays as JSON text
 * with a space after each comma and colon, `True`, `False` and `None`, numbers digit for digit.
 */
export function valueText(value: Json): string {
  if (typeof value === 'string') return value
  if (isJsonArray(value) || isJsonObject(value)) return spacedJson(value)
  return wordOf(value)
}

/** Python's word for a scalar: `None`, `True`, `1.0`. */
export function wordOf(value: null | boolean | number | ExactNumber): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value instanceof ExactNumber ? value.literal : String(value)
}
