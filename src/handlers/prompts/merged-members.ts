import { entriesOf, fromEntries, getKey, isJsonObject, type JsonObject, withKey } from '../../json/json.ts'

/** The members of both objects; where both have one, the second's. */
export function mergedMembers(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  return fromEntries([...entriesOf(first), ...entriesOf(second)])
}

/** The same for consent, whose `decisions` are merged as well (contract/handlers 2.11). */
export function mergedConsent(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  const [before, after] = [getKey(first, 'decisions'), getKey(second, 'decisions')]
  const merged = mergedMembers(first, second)
  if (!isJsonObject(before) || !isJsonObject(after)) return merged
  return withKey(merged, 'decisions', mergedMembers(before, after))
}
