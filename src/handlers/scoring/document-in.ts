import { isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'

/** The JSON value that a text holds; undefined for a text that is no JSON this service can keep. */
export function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}

/**
 * The document that a value is, or that a text holds: an object, an array or null. Undefined for anything else, which no path leads
 * into.
 */
export function documentIn(value: Json): Json | undefined {
  const found = typeof value === 'string' ? jsonIn(value) : value
  return found === null || isJsonArray(found) || isJsonObject(found) ? found : undefined
}

/** What a failure says is expected where a document is needed. */
export const DOCUMENT = 'dict, list or None, or its JSON text'
