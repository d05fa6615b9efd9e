import { getKey, type Json, type JsonObject } from '../json/json.ts'
import { invalidParameter, missingParameter } from './handler-failure.ts'

/** A parameter that has to be a string, empty or not. Null is absent (interface 2.13). */
export function neededText(parameters: JsonObject, name: string): string {
  const value = getKey(parameters, name)
  return value === '' ? value : filledText(value, name)
}

/** A value that has to be a string with something in it; `name` is what failures call it. */
export function filledText(value: Json | undefined, name: string): string {
  if (value === undefined || value === null || value === '') throw missingParameter(name)
  if (typeof value !== 'string') throw invalidParameter(name, 'str', value)
  return value
}
