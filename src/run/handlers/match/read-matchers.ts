import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'
import { invalidParameter } from '../handler-failure.ts'

/** A matcher; only its key and those of its children are validated. */
export interface Matcher {
  readonly key: string
  /** Its place for messages: `matchers[0].`. */
  readonly path: string
  readonly fields: JsonObject
  readonly children: readonly Matcher[]
}

/**
 * Parses a list of matchers (interface 11.13). Throws `invalid-parameter` for anything whose result could not
 * be shown: no list, a matcher that is no object, a key that is no string.
 */
export function readMatchers(list: Json, path: string): readonly Matcher[] {
  if (!isJsonArray(list)) throw invalidParameter(path, 'list', list)
  return list.map((fields, index) => readMatcher(fields, `${path}[${index}]`))
}

function readMatcher(fields: Json, path: string): Matcher {
  if (!isJsonObject(fields)) throw invalidParameter(path, 'dict', fields)
  const key = getKey(fields, 'key') ?? ''
  if (typeof key !== 'string') throw invalidParameter(`${path}.key`, 'str', key)
  const children = readMatchers(getKey(fields, 'matchers') ?? [], `${path}.matchers`)
  return { key, path: `${path}.`, fields, children }
}
