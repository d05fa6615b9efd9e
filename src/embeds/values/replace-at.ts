import { groupBy } from '../../json/json-values.ts'
import type { Json } from '../../json/json.ts'
import { entriesOf, fromEntries, isJsonArray, isJsonObject } from '../../json/json.ts'
import type { EmbedLocation } from '../syntax/embed-token.ts'

/** A value for a place. */
export interface Replacement {
  readonly location: EmbedLocation
  readonly value: Json
}

/** A copy of `document` with these values in their places, none of which is inside another. The rest is shared. */
export function replaceAt(document: Json, replacements: readonly Replacement[]): Json {
  return replaceBelow(document, replacements, 0)
}

function replaceBelow(value: Json, replacements: readonly Replacement[], level: number): Json {
  const [first] = replacements
  if (!first) return value
  if (first.location.length === level) return first.value
  const inside = groupBy(replacements, ({ location }) => location[level])
  const replaced = (key: string | number, member: Json) =>
    replaceBelow(member, inside.get(key) ?? [], level + 1)
  if (isJsonArray(value)) return value.map((item, index) => replaced(index, item))
  if (!isJsonObject(value)) return value
  return fromEntries(entriesOf(value).map(([key, member]) => [key, replaced(key, member)]))
}
