import { Refusal } from '../../errors.ts'
import { getKey, isJsonArray, isJsonObject, type Json, withKey } from './json.ts'

/** A value at a dotted path of a document: `parameters.prompt.messages.0.content`. */
export interface PlacedValue {
  readonly path: string
  readonly value: Json
}

/**
 * The document with these values in place; a number is a place in a list, whose length is the place behind the last. Refuses a path whose
 * parent is not there; `option` is what the refusal calls the values.
 */
export function withValues(document: Json, values: readonly PlacedValue[], option: string): Json {
  return values.reduce((changed, { path, value }) => {
    const refusal = (why: string): Refusal =>
      new Refusal('invalid_request', `${option}: ${path}: ${why}. Nothing was stored.`)
    return placed(changed, path.split('.'), value, refusal)
  }, document)
}

function placed(
  parent: Json,
  [key = '', ...rest]: readonly string[],
  value: Json,
  refusal: (why: string) => Refusal,
): Json {
  if (isJsonArray(parent)) {
    const place = /^(?:0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : Infinity
    const inner = parent[place]
    if (place > parent.length || (inner === undefined && rest.length > 0))
      throw refusal(`"${key}" is not a place in a list of ${parent.length}`)
    return parent.toSpliced(place, 1, inner === undefined ? value : below(inner, rest, value, refusal))
  }
  if (!isJsonObject(parent))
    throw refusal(`what is above "${key}" is not there, or is neither an object nor a list`)
  const inner = getKey(parent, key)
  if (inner === undefined && rest.length > 0) throw refusal(`"${key}" is not there; set it first`)
  return withKey(parent, key, inner === undefined ? value : below(inner, rest, value, refusal))
}

function below(inner: Json, rest: readonly string[], value: Json, refusal: (why: string) => Refusal): Json {
  return rest.length === 0 ? value : placed(inner, rest, value, refusal)
}
