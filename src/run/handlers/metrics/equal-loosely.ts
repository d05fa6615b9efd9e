import {
  equalJson,
  entriesOf,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  type Json,
} from '../../../base/json.ts'

/**
 * Equality by interface 11.5, at every depth: `true` is 1 and `false` is 0; numbers are equal if their
 * decimal values are, objects in any key order.
 */
export function equalLoosely(a: Json, b: Json): boolean {
  if (isJsonArray(a)) {
    return isJsonArray(b) && a.length === b.length && a.every((item, index) => equalMember(item, b[index]))
  }
  if (!isJsonObject(a)) return equalJson(asNumber(a), asNumber(b))
  if (!isJsonObject(b) || keysOf(a).length !== keysOf(b).length) return false
  return entriesOf(a).every(([key, member]) => equalMember(member, getKey(b, key)))
}

function equalMember(a: Json, b: Json | undefined): boolean {
  return b !== undefined && equalLoosely(a, b)
}

function asNumber(value: Json): Json {
  return typeof value === 'boolean' ? Number(value) : value
}
