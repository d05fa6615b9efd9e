import { ExactNumber, type Json, entriesOf, isJsonArray, isJsonObject, setOwn } from './json.ts'

/**
 * The value as ordinary JavaScript, for readers that know nothing else (ajv, zod). It loses what the exact classes
 * hold: numbers become the nearest double, integer-like keys move to the front. `__proto__` becomes an own key and
 * never a prototype. So nothing that was made from the answer may be stored.
 */
export function plainJson(value: Json): unknown {
  if (value instanceof ExactNumber) return Number(value.literal)
  if (isJsonArray(value)) return value.map(plainJson)
  if (!isJsonObject(value)) return value
  const plain: Record<string, unknown> = {}
  for (const [key, member] of entriesOf(value)) setOwn(plain, key, plainJson(member))
  return plain
}
