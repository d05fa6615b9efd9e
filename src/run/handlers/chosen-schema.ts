import { getPath, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { schemaProblems } from '../../registry/workflows.ts'

/**
 * The schema of outputs that users set at a path of the parameters. A value that is not a JSON Schema yet counts as none: it may contain
 * placeholders, which are rendered at invocation.
 */
export function chosenSchema(
  parameters: Json | undefined,
  ...path: readonly string[]
): JsonObject | undefined {
  const schema = getPath(parameters, ...path)
  return isJsonObject(schema) && schemaProblems(schema).length === 0 ? schema : undefined
}
