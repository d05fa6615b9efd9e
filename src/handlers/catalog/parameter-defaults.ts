import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
  withoutKey,
} from '../../json/json.ts'

/**
 * The values that parameters have by default, by a schema of them (interface 7.13); `{}` if none has one. A default of null
 * is none: it says the same as leaving the parameter out.
 */
export function parameterDefaults(schema: JsonObject | undefined): JsonObject {
  const properties = schema && getKey(schema, 'properties')
  if (!isJsonObject(properties)) return {}
  return fromEntries(
    entriesOf(properties).flatMap(([name, property]) => {
      const value = isJsonObject(property) ? getKey(property, 'default') : undefined
      return value === undefined || value === null ? [] : [[name, value] as const]
    }),
  )
}

/** The schema without defaults that are objects or arrays, its own and those of the schemas in it. */
export function withPlainDefaults(schema: JsonObject): JsonObject {
  const value = getKey(schema, 'default')
  const isPlain = !isJsonObject(value) && !isJsonArray(value)
  let plain = isPlain ? schema : withoutKey(schema, 'default')
  for (const [keyword, below] of entriesOf(plain)) plain = withKey(plain, keyword, insideOf(keyword, below))
  return plain
}

/** The value of a keyword, with the same done to the schemas that it holds. */
function insideOf(keyword: string, value: Json): Json {
  if (isJsonObject(value)) {
    if (keyword === 'items') return withPlainDefaults(value)
    if (keyword !== 'properties' && keyword !== '$defs') return value
    return fromEntries(
      entriesOf(value).map(([name, schema]) => [
        name,
        isJsonObject(schema) ? withPlainDefaults(schema) : schema,
      ]),
    )
  }
  return value
}
