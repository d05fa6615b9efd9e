import { type JsonObject, getKey, isJsonObject, withKey, withoutKey } from './json.ts'

/**
 * `target` without the member that `path` leads to, key by key through objects. A path that leads nowhere (a missing
 * key, something that is no object on the way, no key at all) leaves `target` as it is.
 */
export function removePath(target: JsonObject, path: readonly string[]): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) return target
  if (rest.length === 0) return withoutKey(target, key)
  const member = getKey(target, key)
  if (!isJsonObject(member)) return target
  const removed = removePath(member, rest)
  return removed === member ? target : withKey(target, key, removed)
}
