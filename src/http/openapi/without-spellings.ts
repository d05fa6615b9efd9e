import { SPELLING_OF } from '../schemas/spellings.ts'
import type { JsonSchema } from './json-schema.ts'

/**
 * Removes members that are alternative names of others from a schema. Alternatives that the introduction
 * explains (another surface's word, `variant_id` for `application_variant_id`) are dropped; others are listed
 * in the description of the first name.
 */
export function withoutSpellings(schema: JsonSchema): JsonSchema {
  return mapped(schema) as JsonSchema
}

function mapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapped)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    key === 'properties' ? members(member as Readonly<Record<string, JsonSchema>>) : mapped(member),
  ])
  return Object.fromEntries(entries)
}

function members(properties: Readonly<Record<string, JsonSchema>>): Record<string, unknown> {
  const others = new Map<string, string[]>()
  for (const [name, schema] of Object.entries(properties)) {
    const first = schema[SPELLING_OF]
    if (typeof first === 'string') others.set(first, [...(others.get(first) ?? []), name])
  }
  const shown: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    if (schema[SPELLING_OF] !== undefined) continue
    const spellings = others.get(name)
    const told = new Map(spellings?.toReversed().map((it) => [pattern(it), it])) // keeps the first of each pattern
    told.delete(pattern(name))
    const also =
      told.size > 0 ? `Also taken as ${[...told.values()].map((it) => `\`${it}\``).join(', ')}.` : undefined
    const description = [schema['description'], also].filter((text) => text !== undefined).join(' ')
    shown[name] = { ...(mapped(schema) as object), ...(description === '' ? {} : { description }) }
  }
  return shown
}

/** A name with a placeholder for its surface's word; ids of parents may also lack the word. */
function pattern(name: string): string {
  return name
    .replace(/^(?:workflow|application|evaluator)(?=_|s?$)/, '<x>')
    .replace(/^(?:artifact_id|(?=(?:variant|revision)_id$))/, (word) => (word === '' ? '<x>_' : '<x>_id'))
}
