import { getPath, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { schemaProblems } from '../../registry/workflows.ts'

/**
 * The schema at a path of parameters in which users say what outputs they want. One that is no JSON Schema yet (it may still hold
 * placeholders, which are rendered at invocation) counts as none.
 */
export function chosenSchema(
  parameters: Json | undefined,
  ...path: readonly string[]
): JsonObject | undefined {
  const schema = getPath(parameters, ...path)
  return isJsonObject(schema) && schemaProblems(schema).length === 0 ? schema : undefined
}
