import { type JsonObject, entriesOf, fromEntries, getKey, isJsonObject } from './json.ts'

/**
 * `target` with `patch` merged into it: where both have an object the two are merged, anything else (null and arrays
 * too) replaces. Members keep their places, new ones follow in the order of `patch`. Neither argument is changed.
 */
export function mergeJson(target: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(entriesOf(target))
  for (const [key, value] of entriesOf(patch)) {
    const old = getKey(target, key)
    members.set(key, isJsonObject(old) && isJsonObject(value) ? mergeJson(old, value) : value)
  }
  return fromEntries(members)
}
