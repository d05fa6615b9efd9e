import { getKey, hasKey, isJsonObject, withKey, type JsonObject } from '../../../json/json.ts'
import { builtInSchemas } from './built-in-schemas.ts'
import { computedOutputs } from '../computed-outputs.ts'
import type { HandlerUri } from '../handler-uri.ts'

/**
 * The data with the schemas that a built-in uri implies (contract/workflows 10.3): `parameters` and `outputs` where the
 * client sent none, and `outputs` over whatever was sent where the configured values determine it. `inputs` is never
 * filled. Keys that are added come last.
 */
export function fillSchemas(data: JsonObject, uri: HandlerUri | undefined): JsonObject {
  const builtIn = builtInSchemas(uri)
  if (uri === undefined || builtIn === undefined) return data
  const sent = getKey(data, 'schemas')
  const before: JsonObject = isJsonObject(sent) ? sent : {}
  let schemas = before
  for (const part of ['parameters', 'outputs'] as const) {
    const schema = builtIn[part]
    if (schema !== undefined && !hasKey(schemas, part)) schemas = withKey(schemas, part, schema)
  }
  const computed = computedOutputs(uri.key, getKey(data, 'parameters'))
  if (computed !== undefined) schemas = withKey(schemas, 'outputs', computed)
  return schemas === before ? data : withKey(data, 'schemas', schemas)
}
