/** A JSON Schema, as a part of the OpenAPI document. */
export type JsonSchema = Record<string, unknown>
