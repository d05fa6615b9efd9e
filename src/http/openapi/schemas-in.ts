import type { JsonSchema } from './json-schema.ts'

/** Every object of a part of the document that may be a schema, values that a schema holds left out. */
export function schemasIn(part: object): JsonSchema[] {
  const found: JsonSchema[] = []
  const visit = (value: unknown, way: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return
    if (way.length > 0 && !Array.isArray(value)) found.push(value as JsonSchema)
    for (const [key, member] of Object.entries(value)) if (!isValue(key, way)) visit(member, [...way, key])
  }
  visit(part, [])
  return found
}

/** Whether a member holds a value and no schema; what users call their members says nothing. */
export function isValue(key: string, way: readonly string[]): boolean {
  return VALUES.has(key) && way.at(-1) !== 'properties'
}

const VALUES: ReadonlySet<string> = new Set(['example', 'default', 'enum', 'const', 'required', 'tags'])
