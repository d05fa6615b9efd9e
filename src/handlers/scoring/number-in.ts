import { numberOf, type Json } from '../../json/json.ts'

/** The number that a value is, or that a text spells as Python's float() reads it; undefined for anything else. */
export function numberIn(value: Json): number | undefined {
  if (typeof value !== 'string') return numberOf(value)
  return /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\s*$/i.test(value) ? Number(value) : undefined
}
