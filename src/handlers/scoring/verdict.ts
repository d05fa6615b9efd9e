import { boundedJson } from '../../json/bounded-json.ts'
import { ExactNumber, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'

/** What a score comes to. */
export type Verdict = { readonly score: number; readonly success: boolean }

/** The verdict on a score: it succeeds where it reaches the threshold (interface 11.4). */
export function verdictOn(score: number, threshold: number): Verdict {
  return { score, success: score >= threshold }
}

/** Why two values cannot be equal, where that is because their types differ: a sentence that names both; undefined otherwise. */
export function differenceOfTypes(output: Json, expected: Json): string | undefined {
  if (kindOf(output) === kindOf(expected)) return undefined
  return `The types differ: the output is ${described(output)}, the expected output is ${described(expected)}.`
}

/** Characters of a value that a reason shows. */
const SHOWN = 80

function described(value: Json): string {
  return value === null ? 'null' : `the ${kindOf(value)} ${boundedJson(value, SHOWN)}`
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  if (isJsonArray(value)) return 'array'
  return isJsonObject(value) ? 'object' : 'boolean'
}
