import { boundedText } from './json-values.ts'
import type { Json } from './json.ts'
import { ExactNumber, entriesOf, isJsonArray, isJsonObject } from './json.ts'

/**
 * The JSON text of a value, truncated after `max` characters with an ellipsis. Stops reading at the limit, so
 * a large value costs no more than a small one.
 */
export function boundedJson(value: Json, max: number): string {
  return boundedText(append('', value, max), max)
}

/** `text` and the JSON of `value`, or enough of it to exceed `max` characters. */
function append(text: string, value: Json, max: number): string {
  if (text.length > max) return text
  if (typeof value === 'string') return text + JSON.stringify(value.slice(0, max + 1))
  if (value instanceof ExactNumber) return text + value.literal
  if (isJsonArray(value)) return appendAll(text, '[', value, ']', max, append)
  if (!isJsonObject(value)) return text + String(value)
  return appendAll(text, '{', entriesOf(value), '}', max, (before, [key, member]) =>
    append(`${append(before, key, max)}:`, member, max),
  )
}

function appendAll<T>(
  before: string,
  open: string,
  items: readonly T[],
  close: string,
  max: number,
  appendOne: (text: string, item: T, max: number) => string,
): string {
  let text = before + open
  for (const [index, item] of items.entries()) {
    if (text.length > max) return text
    text = appendOne(index === 0 ? text : `${text},`, item, max)
  }
  return text + close
}
