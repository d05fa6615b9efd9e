import { getKey, hasKey, isJsonArray, isJsonObject, type Json } from '../../base/json.ts'
import { EmbedRefusal } from './embed-refusal.ts'
import type { EmbedLocation } from './syntax/embed-token.ts'
import { queryJsonPath } from './query-json-path.ts'

/**
 * The part of a value at a path (interface 10.8): JSONPath if it begins with `$`, an RFC 6901 pointer if with `/`, else dot notation.
 * Without a path, the whole value. Refuses with `embed_path_not_found`; an existing null is a value.
 */
export function selectValue(value: Json, path: string | undefined, spend: (values: number) => void): Json {
  if (path === undefined) return value
  if (isJsonPath(path)) return selected(value, path, spend)
  return pathSteps(value, path).reduce((at, step) => memberAt(at, step, path), value)
}

/** The values that a JSONPath selects, unchanged: the value itself if there is one, an array if there are several. */
function selected(value: Json, path: string, spend: (values: number) => void): Json {
  const [first, ...others] = queryJsonPath(value, path, spend).map((location) => valueAt(value, location))
  if (first === undefined) {
    throw new EmbedRefusal('embed_path_not_found', `The JSONPath ${JSON.stringify(path)} selects nothing.`)
  }
  return others.length === 0 ? first : [first, ...others]
}

/** Whether a path is JSONPath. */
export function isJsonPath(path: string): boolean {
  return path.startsWith('$')
}

/**
 * The steps of a pointer or a path in dot notation from `value`; `memberAt` takes each. If the whole path is a key of `value`, it is one
 * step.
 */
export function pathSteps(value: Json, path: string): string[] {
  if (path.startsWith('/')) return path.slice(1).split('/').map(unescaped)
  if (isJsonObject(value) && hasKey(value, path)) return [path]
  if (/[[\]]/.test(path)) {
    throw new EmbedRefusal(
      'embed_path_not_found',
      `The path ${shown(path)} has brackets, and dot notation has none: write 0 for [0], or JSONPath that begins with "$".`,
    )
  }
  return path.split('.').filter((piece) => piece !== '')
}

/** The value one step further: the object's own member, or the array's item if the step is digits. */
export function memberAt(value: Json, step: string, path: string): Json {
  const key = stepKey(value, step)
  const member = memberOf(value, key)
  if (member !== undefined) return member
  throw new EmbedRefusal('embed_path_not_found', `Nothing is at ${shown(path)}: there is no ${shown(step)}.`)
}

/** The key of `value` for a step. */
export function stepKey(value: Json, step: string): string | number {
  return isJsonArray(value) && /^[0-9]{1,15}$/.test(step) ? Number(step) : step
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}

/** The value at a location. Throws an Error if there is none: callers pass only locations that they found in the document. */
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
