import type { Json, PlainObject } from '../../../base/json.ts'

/** The draft of all built-in schemas, and of schemas without `$schema`. */
export const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema'

/** A root schema of an object with only these properties. */
export function closedObject(
  properties: Readonly<Record<string, Json>>,
  required: readonly string[] = [],
): PlainObject {
  return {
    $schema: DRAFT_2020_12,
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
  }
}

/** A root schema of an object with these properties and possibly others. */
export function openObject(
  properties: Readonly<Record<string, Json>>,
  required: readonly string[] = [],
): PlainObject {
  return {
    $schema: DRAFT_2020_12,
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: true,
  }
}
