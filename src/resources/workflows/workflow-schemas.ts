import type { FieldProblem } from '../../errors.ts'
import { countValues } from '../../json/count-values.ts'
import { entriesOf, isJsonObject, type Json } from '../../json/json.ts'
import { UNKNOWN_KEY } from '../documents/problems-refusal.ts'
import { typeName } from '../documents/type-name.ts'
import { unknownKey } from '../documents/unknown-key.ts'
import { schemaProblems } from './schemas/schema-problems.ts'

/** The schemas a workflow may carry: of its configuration, of a request, of an answer (interface 7.6). */
const schemaParts: readonly string[] = ['parameters', 'inputs', 'outputs']

/** So many values the schemas may hold at any depth: to check one against its meta-schema is far more work than to read it. */
const MOST_VALUES = 10_000

/**
 * What is wrong with a `data.schemas` that a client sent, each problem at its place below `loc`. A part that is null
 * counts as absent (interface 2.13); a key that is no part is refused like an unknown key of `data`.
 */
export function workflowSchemasProblems(
  schemas: Json,
  loc: readonly (string | number)[],
): readonly FieldProblem[] {
  if (!isJsonObject(schemas)) {
    const msg = `schemas must be an object with the keys ${schemaParts.join(', ')}, but it is ${typeName(schemas)}`
    return [{ loc, msg, type: 'object_type' }]
  }
  if (countValues(schemas, MOST_VALUES) > MOST_VALUES) {
    const msg = `schemas must hold at most ${MOST_VALUES} values in all; send simpler ones`
    return [{ loc, msg, type: 'too_long' }]
  }
  return entriesOf(schemas).flatMap(([part, schema]): readonly FieldProblem[] => {
    const place = [...loc, part]
    if (!schemaParts.includes(part)) {
      return [{ loc: place, msg: unknownKey(part, 'data.schemas', schemaParts), type: UNKNOWN_KEY }]
    }
    if (schema === null) return []
    if (!isJsonObject(schema)) {
      const msg = `schemas.${part} must be a JSON Schema object, but it is ${typeName(schema)}`
      return [{ loc: place, msg, type: 'object_type' }]
    }
    return schemaProblems(schema).map(({ path, message }) => ({
      loc: [...place, ...path],
      msg: `schemas.${part} is not a valid JSON Schema: ${['', ...path].join('/') || 'the schema'} ${message}`,
      type: 'json_schema',
    }))
  })
}
