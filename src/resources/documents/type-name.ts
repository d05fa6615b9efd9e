import { isJsonArray, isJsonObject, type Json } from '../../json/json.ts'

/** What a value is, in the words of JSON with their article, for sentences that say "but it is …". */
export function typeName(value: Json): string {
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'an array'
  if (isJsonObject(value)) return 'an object'
  // an ExactNumber is the one object left
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`
}
