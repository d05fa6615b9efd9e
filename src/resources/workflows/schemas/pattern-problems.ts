import type { Json } from '../../../json/json.ts'
import { entriesOf, isJsonArray, isJsonObject } from '../../../json/json.ts'

/** So many characters the patterns of a schema may have in all: one costs more to compile than to send. */
const MOST_PATTERN = 100_000

/**
 * The patterns in a JSON Schema that are no regular expressions of JavaScript (interface 7.6), wherever a subschema can be.
 * A meta-schema asks for this by `format`, which ajv leaves out of account there.
 */
export function patternProblems(schema: Json): readonly SchemaProblem[] {
  const patterns = patternsOf(schema, [])
  if (patterns.reduce((sum, { pattern }) => sum + pattern.length, 0) > MOST_PATTERN) {
    return [{ path: [], message: `must have patterns of at most ${MOST_PATTERN} characters in all` }]
  }
  return patterns
    .filter(({ pattern }) => !isPattern(pattern))
    .map(({ pattern, path }) => ({
      path,
      message: `${JSON.stringify(pattern)} is not a regular expression that JavaScript can read`,
    }))
}

interface Pattern {
  readonly pattern: string
  readonly path: readonly (string | number)[]
}

function patternsOf(schema: Json, path: readonly (string | number)[]): readonly Pattern[] {
  if (!isJsonObject(schema)) return []
  return entriesOf(schema).flatMap(([keyword, value]) => {
    const place = [...path, keyword]
    if (keyword === 'pattern') return typeof value === 'string' ? [{ pattern: value, path: place }] : []
    if (maps.has(keyword) && isJsonObject(value)) {
      return entriesOf(value).flatMap(([name, below]) => [
        ...(keyword === 'patternProperties' ? [{ pattern: name, path: [...place, name] }] : []),
        ...patternsOf(below, [...place, name]),
      ])
    }
    if (!subschemas.has(keyword)) return []
    if (!isJsonArray(value)) return patternsOf(value, place)
    return value.flatMap((below, index) => patternsOf(below, [...place, index]))
  })
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

/** What is wrong with one place of a JSON Schema; `path` leads there from the schema's root. */
export interface SchemaProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}
