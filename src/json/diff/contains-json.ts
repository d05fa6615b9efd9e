import { type Json, entriesOf, getKey, isJsonObject, equalJson } from '../json.ts'

/**
 * Whether `value` has at least what `part` has: objects are compared member by member as deep as `part` goes, anything
 * else (arrays too) must be equal. What a filter by tags or meta means: `{"n":{"a":"b"}}` finds every record whose `n`
 * holds at least that, and `{}` finds every object.
 */
export function containsJson(value: Json | undefined, part: Json): boolean {
  if (value === undefined) return false
  if (!isJsonObject(value) || !isJsonObject(part)) return equalJson(value, part)
  return entriesOf(part).every(([key, wanted]) => containsJson(getKey(value, key), wanted))
}
