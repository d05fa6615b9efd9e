import {
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  withKey,
  type Json,
  type JsonObject,
} from '../../json/json.ts'
import { resultNode } from './schemas/match-schemas.ts'
import { closedObject, DRAFT_2020_12 } from './schemas/object-schema.ts'
import { schemaProblems } from './schemas/schema-problems.ts'

/**
 * The outputs schema that the configured parameters of a built-in handler determine (contract/workflows 10.3), or
 * undefined where they determine none. A schema of the user's that is no JSON Schema yet (it may still hold
 * placeholders, which are rendered at invocation) determines none either.
 */
export function computedOutputs(key: string, parameters: Json | undefined): JsonObject | undefined {
  switch (key) {
    case 'completion': {
      const format = at(parameters, 'prompt', 'llm_config', 'response_format')
      return at(format, 'type') === 'json_schema'
        ? usableSchema(at(format, 'json_schema', 'schema'))
        : undefined
    }
    case 'llm': {
      const response = at(parameters, 'response')
      return at(response, 'format') === 'json' ? usableSchema(at(response, 'schema')) : undefined
    }
    case 'auto_ai_critique':
      return usableSchema(at(parameters, 'json_schema', 'schema'))
    case 'json_multi_field_match':
      return fieldScores(at(parameters, 'fields'))
    case 'match':
      return matchResults(at(parameters, 'matchers'))
    default:
      return undefined
  }
}

/** The value at a path of keys, undefined where the path leads nowhere. */
function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce((found, key) => (isJsonObject(found) ? getKey(found, key) : undefined), value)
}

function usableSchema(schema: Json | undefined): JsonObject | undefined {
  return isJsonObject(schema) && schemaProblems(schema).length === 0 ? schema : undefined
}

/** One number for each field, named by its path, and their mean. */
function fieldScores(fields: Json | undefined): JsonObject | undefined {
  if (!isJsonArray(fields)) return undefined
  const scores = fields
    .filter((field) => typeof field === 'string')
    .map((field) => [field, { type: 'number' }] as const)
  const properties = fromEntries([...scores, ['aggregate_score', { type: 'number' }]])
  return withKey(closedObject({}, ['aggregate_score']), 'properties', properties)
}

/** The tree of results that a tree of matchers gives; the root's own score and success win over matchers so named. */
function matchResults(matchers: Json | undefined): JsonObject | undefined {
  if (!isJsonArray(matchers) || matchers.length === 0) return undefined
  const own = { score: { type: 'number' }, success: { type: 'boolean' } }
  const properties = fromEntries([...children(matchers), ...Object.entries(own)])
  return {
    $schema: DRAFT_2020_12,
    type: 'object',
    properties,
    required: keysOf(properties),
    additionalProperties: false,
    $defs: { result: { ...resultNode, additionalProperties: false } },
  }
}

/** The results of some matchers by key; a matcher without one is kept under "", and of equal keys the last counts. */
function children(matchers: readonly Json[]): [string, Json][] {
  return matchers.filter(isJsonObject).map((matcher) => {
    const key = getKey(matcher, 'key')
    const nested = getKey(matcher, 'matchers')
    const isLeaf = !isJsonArray(nested) || nested.length === 0
    return [typeof key === 'string' ? key : '', isLeaf ? { $ref: '#/$defs/result' } : nestedResult(nested)]
  })
}

/** A matcher that sums others up: its own result, and theirs beside it. */
function nestedResult(matchers: readonly Json[]): JsonObject {
  const below = children(matchers)
  const properties = fromEntries([...Object.entries(resultNode.properties), ...below])
  return {
    type: 'object',
    properties,
    required: [...new Set([...resultNode.required, ...below.map(([key]) => key)])],
    additionalProperties: false,
  }
}
