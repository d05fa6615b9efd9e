import { AskedQuery } from '../routing/input.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import type { JsonSchema } from './json-schema.ts'

/** Query-string parameters in /openapi.json. */

export interface Parts {
  /** The schema of references, as bodies name it. */
  readonly reference: string
  /** The other parts of bodies that have names, by what they are named. */
  readonly named: Readonly<Record<string, JsonSchema>>
}

/**
 * A GET form takes the references of its body as `member.field` parameters, of filters and windows the fields that it looks for, and
 * every other member under its own name.
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

/** An upload whose body is the file takes the fields of the form in the query string. */
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
