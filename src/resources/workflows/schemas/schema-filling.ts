import { getKey, hasKey, isJsonObject, withKey, type JsonObject } from '../../../json/json.ts'
import type { HandlerInterface } from '../handler-table.ts'

/**
 * The data with the schemas that a handler implies (interface 7.5): `parameters` and `outputs` where the
 * client sent none, and `outputs` over whatever was sent where the configured values determine it. `inputs` is never
 * filled. Keys that are added come last.
 */
export function fillSchemas(data: JsonObject, handler: HandlerInterface | undefined): JsonObject {
  const builtIn = handler?.schemas
  if (builtIn === undefined) return data
  const sent = getKey(data, 'schemas')
  const before: JsonObject = isJsonObject(sent) ? sent : {}
  let schemas = before
  for (const part of ['parameters', 'outputs'] as const) {
    const schema = builtIn[part]
    if (schema !== undefined && !hasKey(schemas, part)) schemas = withKey(schemas, part, schema)
  }
  const computed = handler?.computedOutputs?.(getKey(data, 'parameters'))
  if (computed !== undefined) schemas = withKey(schemas, 'outputs', computed)
  return schemas === before ? data : withKey(data, 'schemas', schemas)
}
