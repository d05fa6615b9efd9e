import { getKey, type Json, type JsonObject } from '../../base/json.ts'
import { invalidParameter, missingParameter } from './handler-failure.ts'

/** A parameter that must be a string, possibly empty. Null counts as absent (interface 2.13). */
export function neededText(parameters: JsonObject, name: string): string {
  const value = getKey(parameters, name)
  return value === '' ? value : filledText(value, name)
}

/** A value that must be a non-empty string; `name` is its name in failures. */
export function filledText(value: Json | undefined, name: string): string {
  if (value === undefined || value === null || value === '') throw missingParameter(name)
  if (typeof value !== 'string') throw invalidParameter(name, 'str', value)
  return value
}
