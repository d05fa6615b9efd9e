import { isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { typeName } from './type-name.ts'

/** A value as a sentence shows it: a short text or number as it was sent, of anything else what it is. */
export function formatValueForPeople(value: Json): string {
  if (isJsonArray(value) || isJsonObject(value)) return typeName(value)
  const text = stringifyJson(value)
  return text.length <= 80 ? text : typeName(value)
}
