import { getKey, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import type { EmbedLocation } from '../syntax/embed-token.ts'

/** The value at a location. Throws an Error if there is none: only locations that were found there are asked for. */
export function valueAt(document: Json, location: EmbedLocation): Json {
  return location.reduce<Json>((at, key) => {
    const member = memberOf(at, key)
    if (member === undefined) throw new Error(`nothing is at ${location.join('.')}`)
    return member
  }, document)
}

/** The item of an array or the object's own member; undefined if there is none. */
export function memberOf(value: Json, key: string | number): Json | undefined {
  if (typeof key === 'number') return isJsonArray(value) ? value[key] : undefined
  return isJsonObject(value) ? getKey(value, key) : undefined
}
