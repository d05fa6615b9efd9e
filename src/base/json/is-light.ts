import { ExactNumber } from './json.ts'
import { JsonText } from './stringify-json.ts'

/** What is lighter than this is walked, printed or compared in a millisecond or so. */
const LIGHT = 2000

/** A long text takes as long as many values. */
const CHARACTERS_PER_VALUE = 128

/**
 * Whether a value (of JSON, or a record of our own that JSON can say) is so small that work over the whole of it needs no turn for others.
 * Looks no further than that, so asking it of a large value costs little.
 */
export function isLight(value: unknown): boolean {
  return left(value, LIGHT) >= 0
}

/** What is left of `budget` beside the weight of a value; negative if that is too much. */
function left(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - 1 - value.length / CHARACTERS_PER_VALUE
  if (typeof value !== 'object' || value === null) return budget - 1
  if (value instanceof ExactNumber || value instanceof JsonText) return budget - 1
  let rest = budget - 1
  if (Array.isArray(value) || value instanceof Map) {
    if ((value instanceof Map ? value.size : value.length) > rest) return -1
    for (const member of value.values()) if ((rest = left(member, rest)) < 0) return rest
    return rest
  }
  const members = value as Readonly<Record<string, unknown>>
  for (const key in members)
    if ((rest = left(members[key], rest - key.length / CHARACTERS_PER_VALUE)) < 0) return rest
  return rest
}
