import type { JsonSchema } from '../../support/clients/api-document.ts'

/** An object in the body of a request: the way to it, and the fields that the document says it has. */
export interface BodyLevel {
  readonly path: readonly (string | number)[]
  readonly fields: readonly string[]
}

type Schemas = Readonly<Record<string, JsonSchema>>

/** Every object of a body that has named fields, the body itself first. */
export function bodyLevels(
  schema: JsonSchema,
  schemas: Schemas,
  path: readonly (string | number)[] = [],
): readonly BodyLevel[] {
  const { $ref, allOf = [], anyOf = [], properties = {}, items, additionalProperties } = schema
  if ($ref !== undefined) {
    const named = schemas[$ref.replace('#/components/schemas/', '')]
    if (!named) throw new Error(`${$ref} is not in the document`)
    return bodyLevels(named, schemas, path)
  }
  const own = Object.entries(properties)
  const isFlags = additionalProperties === false
  return merged([
    ...(own.length > 0 || isFlags ? [{ path, fields: own.map(([name]) => name) }] : []),
    ...own.flatMap(([name, member]) => bodyLevels(member, schemas, [...path, name])),
    ...[...allOf, ...anyOf].flatMap((part) => bodyLevels(part, schemas, path)),
    ...(items ? bodyLevels(items, schemas, [...path, 0]) : []),
  ])
}

/** Parts of one object, each once. */
function merged(levels: readonly BodyLevel[]): readonly BodyLevel[] {
  const found = new Map<string, BodyLevel>()
  for (const level of levels) {
    const key = JSON.stringify(level.path)
    const fields = [...new Set([...(found.get(key)?.fields ?? []), ...level.fields])]
    found.set(key, { path: level.path, fields })
  }
  return [...found.values()]
}

/** The body that holds `value` at the end of this way, and nothing else. */
export function bodyWith(path: readonly (string | number)[], value: object): object {
  return path.reduceRight<object>((inner, step) => (step === 0 ? [inner] : { [step]: inner }), value)
}
