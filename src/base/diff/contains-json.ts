import { type Json, entriesOf, getKey, isJsonObject, equalJson } from '../json/json.ts'

/**
 * Whether `value` contains `part`: objects are compared member by member as deep as `part` goes; anything
 * else (including arrays) must be equal. Filters by tags or meta use it: `{"n":{"a":"b"}}` matches every
 * record whose `n` contains that, and `{}` matches every object.
 */
export function containsJson(value: Json | undefined, part: Json): boolean {
  if (value === undefined) return false
  if (!isJsonObject(value) || !isJsonObject(part)) return equalJson(value, part)
  return entriesOf(part).every(([key, wanted]) => containsJson(getKey(value, key), wanted))
}
