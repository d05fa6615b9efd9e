import { type OpenApiDocument, type Schema, type SchemaObject, dereference } from './open-api-document.ts'

/**
 * A value that fits the schema well enough to show: its own example, default or first choice where it has one, else one
 * made from its type. Of an object without an example: the required members, or all if none is required.
 */
export function exampleOfSchema(document: OpenApiDocument, schema: Schema, depth = 0): unknown {
  if (typeof schema === 'boolean' || depth > 6) return {}
  const own = dereference(document, schema)
  const given = own.example ?? own.examples?.[0] ?? own.default ?? own.const ?? own.enum?.[0]
  if (given !== undefined) return given
  if (own.allOf)
    return Object.assign({}, ...own.allOf.map((part) => exampleOfSchema(document, part, depth + 1)))
  const choice = (own.oneOf ?? own.anyOf)?.[0]
  if (choice !== undefined) return exampleOfSchema(document, choice, depth + 1)
  if (own.properties) return exampleOfObject(document, own, depth)
  if (own.items !== undefined) return [exampleOfSchema(document, own.items, depth + 1)]
  return exampleOfType(own)
}

function exampleOfObject(
  document: OpenApiDocument,
  { properties, required }: SchemaObject,
  depth: number,
): object {
  const members = Object.entries(properties ?? {})
  const needed = members.filter(([name]) => required?.includes(name))
  const shown = needed.length > 0 ? needed : members
  return Object.fromEntries(
    shown.map(([name, member]) => [name, exampleOfSchema(document, member, depth + 1)]),
  )
}

function exampleOfType({ type, format }: SchemaObject): unknown {
  const name = typeof type === 'string' ? type : type?.[0]
  if (name === 'string') return STRINGS[format ?? ''] ?? 'text'
  if (name === 'integer' || name === 'number') return 1
  if (name === 'boolean') return true
  if (name === 'array') return []
  return name === 'null' ? null : {}
}

const STRINGS: Readonly<Record<string, string>> = {
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  'date-time': '2026-01-31T12:00:00Z',
  uri: 'https://example.org/',
  email: 'ci@example.org',
}
