import { getKey, isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { schemaProblems } from '../resources/workflows/schemas/schema-problems.ts'

/** The value at a path of keys, undefined where the path leads nowhere. */
export function parameterAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value
  for (const key of path) found = isJsonObject(found) ? getKey(found, key) : undefined
  return found
}

/**
 * The schema at a path of parameters in which users say what outputs they want. One that is no JSON Schema yet (it may still hold
 * placeholders, which are rendered at invocation) counts as none.
 */
export function chosenSchema(
  parameters: Json | undefined,
  ...path: readonly string[]
): JsonObject | undefined {
  const schema = parameterAt(parameters, ...path)
  return isJsonObject(schema) && schemaProblems(schema).length === 0 ? schema : undefined
}
