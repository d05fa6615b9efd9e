import type { PlainObject } from '../../../base/json.ts'

/**
 * An object schema with these properties; those without a title get one from their name. Open unless `more`
 * closes it.
 */
export function objectType(
  properties: Readonly<Record<string, PlainObject>>,
  required: readonly string[] = [],
  more: PlainObject = {},
): PlainObject {
  const titled = Object.entries(properties).map(([name, schema]) => [
    name,
    { title: titleOf(name), ...schema },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(titled),
    ...(required.length > 0 ? { required: [...required] } : {}),
    ...more,
  }
}

/** What `schema` allows, or null, which also means absent. */
export function nullable(schema: PlainObject, more: PlainObject = {}): PlainObject {
  return { anyOf: [schema, { type: 'null' }], default: null, ...more }
}

/** `tool_call_id` → `Tool Call Id` */
function titleOf(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}
