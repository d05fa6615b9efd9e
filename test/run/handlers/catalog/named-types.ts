import type { Json } from '../../../../src/base/json/json.ts'

/** The names under `x-svc-type-ref` anywhere in a value. */
export function namedTypes(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(namedTypes)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'x-svc-type-ref' ? [String(member)] : namedTypes(member),
  )
}
