import {
  getKey,
  getPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type PlainObject,
  keysOf,
  withKey,
} from '../../base/json.ts'
import { Refusal } from '../../errors.ts'

/**
 * The fields of a record: dotted paths, such as `data.parameters`. Without `asked`, those of `usual` that the record has.
 * Refuses a field that the record does not have, naming those that it has.
 */
export function shortRecord(
  record: JsonObject,
  asked: readonly string[] | undefined,
  usual: readonly string[],
): JsonObject {
  let short: JsonObject = {}
  for (const field of asked ?? usual) {
    const path = field.split('.')
    const value = getPath(record, ...path)
    if (value === undefined && asked && !usual.includes(field))
      throw new Refusal(
        'invalid_request',
        `fields: there is no field ${JSON.stringify(field)} here; there are ${keysOf(record).join(', ')}. ` +
          'Name fields inside of a field with dots: data.parameters.',
      )
    if (value !== undefined) short = withPath(short, path, value)
  }
  return short
}

function withPath(object: JsonObject, [first = '', ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return withKey(object, first, value)
  const inner = getKey(object, first)
  return withKey(object, first, withPath(isJsonObject(inner) ? inner : {}, rest, value))
}

/** An object without the members that are undefined; its names are ours. */
export function given(members: Readonly<Record<string, Json | undefined>>): PlainObject {
  const there = Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined)
  return Object.fromEntries(there)
}
