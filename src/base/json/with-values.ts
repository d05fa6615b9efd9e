import { Refusal } from '../../errors.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject, keysOf, withKey } from './json.ts'

/**
 * The document with values at dotted paths replaced: `parameters.prompt.messages.0.content`; a number is a place in a list, whose length is
 * the place behind the last. Refuses a path whose parent is not there.
 */
export function withValues(document: JsonObject, values: JsonObject): JsonObject {
  return keysOf(values).reduce<JsonObject>((changed, path) => {
    // An object stays one.
    return placed(changed, path.split('.'), getKey(values, path) ?? null, path) as JsonObject
  }, document)
}

function placed(
  at: Json | undefined,
  [first = '', ...rest]: readonly string[],
  value: Json,
  path: string,
): Json {
  if (isJsonArray(at)) {
    const index = /^(?:0|[1-9][0-9]{0,8})$/.test(first) ? Number(first) : Infinity
    if (index > at.length || (rest.length > 0 && index === at.length)) throw noParent(path, first)
    return at.toSpliced(index, 1, rest.length === 0 ? value : placed(at[index], rest, value, path))
  }
  if (!isJsonObject(at)) throw noParent(path, first)
  if (rest.length === 0) return withKey(at, first, value)
  const inner = getKey(at, first)
  if (inner === undefined) throw noParent(path, rest[0] ?? '')
  return withKey(at, first, placed(inner, rest, value, path))
}

function noParent(path: string, part: string): Refusal {
  return new Refusal(
    'invalid_request',
    `set: ${JSON.stringify(path)} leads nowhere: there is nothing that could hold ${JSON.stringify(part)}. ` +
      'Set the nearest value that is there.',
  )
}
