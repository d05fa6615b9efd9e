import addFormats from 'ajv-formats'
import type { ErrorObject } from 'ajv'
import { type Json, type JsonObject, plainJson } from '../../../base/json.ts'
import { draftOf } from './schema-problems.ts'

/** Says where a value breaks a schema and how (`messages[0].role must be string`); undefined where it does not. */
export type SchemaCheck = (value: Json) => string | undefined

/**
 * Compiles a schema that was accepted by `schemaProblems`. Formats are checked, no reference is followed out of the schema. Throws an
 * Error whose message says why if a schema that looked right cannot be used: a `$ref` that leads nowhere.
 */
export function compileSchema(schema: JsonObject, name: string): SchemaCheck {
  const draft = draftOf(schema)
  if (draft === undefined) throw new Error('it names a draft that this service does not know')
  // An instance of its own: two schemas may have the same $id. What is stored was checked against the meta-schema when it came in.
  const ajv = draft.create({ validateSchema: false })
  addFormats.default(ajv)
  // ajv takes any object for a schema.
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
