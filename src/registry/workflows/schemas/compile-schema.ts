import addFormats from 'ajv-formats'
import type { ErrorObject } from 'ajv'
import { type Json, type JsonObject, plainJson } from '../../../base/json.ts'
import { draftOf } from './schema-problems.ts'

/** Answers where and how a value violates a schema (`messages[0].role must be string`); undefined if it does not. */
export type SchemaCheck = (value: Json) => string | undefined

/**
 * Compiles a schema that `schemaProblems` accepted. Formats are checked. References out of the schema are not followed. Throws an Error with the
 * reason if the schema cannot be used, such as a `$ref` to a missing place.
 */
export function compileSchema(schema: JsonObject, name: string): SchemaCheck {
  const draft = draftOf(schema)
  if (draft === undefined) throw new Error('it names a draft that this service does not know')
  // A separate instance for each schema, because two schemas may have the same $id. A stored schema was checked against the meta-schema when it
  // came in.
  const ajv = draft.create({ validateSchema: false })
  addFormats.default(ajv)
  // The types of ajv accept any object as a schema.
  const validate = ajv.compile(plainJson(schema) as object)
  return (value) => {
    if (validate(plainJson(value))) return undefined
    const [first] = validate.errors ?? []
    return first ? sentence(name, first) : `${name} is not valid`
  }
}

function sentence(
  name: string,
  { instancePath, message = 'is not valid', params, keyword }: ErrorObject,
): string {
  const place = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^[0-9]+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
  const detail =
    keyword === 'additionalProperties'
      ? `must not have the key ${JSON.stringify(params['additionalProperty'])}`
      : keyword === 'enum'
        ? `must be one of ${JSON.stringify(params['allowedValues'])}`
        : message
  return `${name}${place} ${detail}`
}
