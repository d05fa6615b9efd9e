import { canonicalJson } from '../../json/canonical-json.ts'
import type { JsonObject } from '../../json/json.ts'

/** The text of outputs, or of an answer, that is compared (interface 11.10): a string itself, else RFC 8785. */
export function textOf(value: string | JsonObject): string {
  return typeof value === 'string' ? value : canonicalJson(value)
}
