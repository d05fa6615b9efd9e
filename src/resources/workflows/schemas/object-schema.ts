import type { Json, PlainObject } from '../../../json/json.ts'

/** The draft that every built-in schema is written in, and that a schema without `$schema` is read as. */
export const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema'

/** A root schema of an object that has these properties and no others. */
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

/** A root schema of an object that has these properties and may have others. */
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
