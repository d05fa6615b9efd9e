import type { JsonSchema } from './json-schema.ts'

/** Every object in a part of the document that may be a schema, excluding values inside schemas. */
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

/** Whether a member holds a value, not a schema; members that a user named do not count. */
export function isValue(key: string, way: readonly string[]): boolean {
  return VALUES.has(key) && way.at(-1) !== 'properties'
}

const VALUES: ReadonlySet<string> = new Set(['example', 'default', 'enum', 'const', 'required', 'tags'])
