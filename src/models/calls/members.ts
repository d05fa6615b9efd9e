import { getKey, isJsonObject, type JsonObject } from '../../json/json.ts'

/** The member of this name when it is text. */
export function textAt(object: JsonObject, key: string): string | undefined {
  const value = getKey(object, key)
  return typeof value === 'string' ? value : undefined
}

/** The member of this name when it is an object. */
export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = getKey(object, key)
  return isJsonObject(value) ? value : undefined
}
