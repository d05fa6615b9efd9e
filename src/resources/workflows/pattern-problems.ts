import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import type { SchemaProblem } from './schema-problems.ts'

/**
 * The patterns in a JSON Schema that are no regular expressions of JavaScript (ruling 9), wherever a subschema can be.
 * A meta-schema asks for this by `format`, which ajv leaves out of account there.
 */
export function patternProblems(
  schema: Json,
  path: readonly (string | number)[] = [],
): readonly SchemaProblem[] {
  if (!isJsonObject(schema)) return []
  return entriesOf(schema).flatMap(([keyword, value]) => {
    const place = [...path, keyword]
    if (keyword === 'pattern') return typeof value === 'string' ? patternProblem(value, place) : []
    if (maps.has(keyword) && isJsonObject(value)) {
      return entriesOf(value).flatMap(([name, below]) => [
        ...(keyword === 'patternProperties' ? patternProblem(name, [...place, name]) : []),
        ...patternProblems(below, [...place, name]),
      ])
    }
    if (!subschemas.has(keyword)) return []
    if (!isJsonArray(value)) return patternProblems(value, place)
    return value.flatMap((below, index) => patternProblems(below, [...place, index]))
  })
}

function patternProblem(pattern: string, path: readonly (string | number)[]): readonly SchemaProblem[] {
  if (isPattern(pattern)) return []
  return [
    { path, message: `${JSON.stringify(pattern)} is not a regular expression that JavaScript can read` },
  ]
}

/** Keywords whose value holds subschemas under names of the user's. */
const maps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** Keywords whose value is a subschema or a list of them. */
const subschemas: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
])

/** Whether JavaScript compiles the pattern, in Unicode mode or in the older one that forgives more escapes. */
function isPattern(pattern: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      new RegExp(pattern, flags)
      return true
    } catch {
      return false
    }
  })
}
