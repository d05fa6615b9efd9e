import { getKey, type JsonObject } from '../../json/json.ts'
import { invalidParameter, missingParameter } from '../handler-failure.ts'

/** A parameter that has to be a string, empty or not. Null is absent (ruling 1.6). */
export function neededText(parameters: JsonObject, name: string): string {
  const value = getKey(parameters, name) ?? undefined
  if (value === undefined) throw missingParameter(name)
  if (typeof value !== 'string') throw invalidParameter(name, 'str', value)
  return value
}
