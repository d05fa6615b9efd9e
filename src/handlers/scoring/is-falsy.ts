import { isJsonArray, isJsonObject, keysOf, numberOf, type Json } from '../../json/json.ts'

/** Whether a parameter counts as one that is not there (interface 11.4): nothing, null, zero, false, or empty. */
export function isFalsy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (isJsonArray(value)) return value.length === 0
  if (isJsonObject(value)) return keysOf(value).length === 0
  return numberOf(value) === 0
}
