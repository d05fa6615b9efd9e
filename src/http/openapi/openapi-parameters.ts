import { AskedQuery } from '../routing/input.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import type { JsonSchema } from './json-schema.ts'

/** The parts of the document that query-string parameters refer to. */

export interface Parts {
  /** The reference to the schema of references, as bodies use it. */
  readonly reference: string
  /** The other named parts of bodies, by reference. */
  readonly named: Readonly<Record<string, JsonSchema>>
}

/**
 * Lists the parameters of a GET form: references of its body as `member.field`, the fields it reads of
 * filters and windows, and every other member under its own name.
 */
export function openApiQueryParameters(schema: JsonSchema, { fromQuery }: Endpoint, parts: Parts): object[] {
  const query = new AskedQuery('')
  fromQuery?.(query, {})
  return membersOf(schema).flatMap(([name, member]) => {
    const named = String(member['$ref'])
    if (named === parts.reference)
      return ['id', 'slug', 'version'].map((field) => parameter(`${name}.${field}`, { type: 'string' }))
    const fields = membersOf(parts.named[named] ?? member).filter(([field]) => query.known.has(field))
    return fields.length > 0 ? fields.map(([field, of]) => parameter(field, of)) : [parameter(name, member)]
  })
}

/** Lists the form fields as query parameters, for an upload whose body is the file. */
export function fieldParameters(schema: JsonSchema): object[] {
  return membersOf(schema).map(([name, member]) => ({
    ...parameter(name, member),
    description: 'Like the field of the form, which wins.',
  }))
}

function membersOf({ properties = {} }: JsonSchema): [string, JsonSchema][] {
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>) // as JSON Schema has them
}

function parameter(name: string, schema: JsonSchema): object {
  return { name, in: 'query', schema }
}
