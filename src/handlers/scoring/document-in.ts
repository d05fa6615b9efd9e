import type { Json, JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'

/** The document that a text holds, or that a value is; undefined for a text that is no JSON this service can keep. */
export function documentIn(value: string | JsonObject): Json | undefined {
  if (typeof value !== 'string') return value
  try {
    return parseJson(value)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}
