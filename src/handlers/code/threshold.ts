import { type Json, type JsonObject, getKey, numberOf } from '../../json/json.ts'
import { invalidParameter } from '../handler-failure.ts'

const DEFAULT = 0.5

/** The threshold of parameters whose rule is strict (contract/handlers 2.2): in (0, 1], 0.5 where it is empty; integers are numbers (P6). */
export function strictThreshold(parameters: JsonObject): number {
  const given = getKey(parameters, 'threshold')
  if (isEmpty(given)) return DEFAULT
  const threshold = numberOf(given)
  if (threshold === undefined) throw invalidParameter('threshold', 'float', given)
  if (threshold <= 0 || threshold > 1) throw invalidParameter('threshold', 'float[0.0, 1.0]', given)
  return threshold
}

/** The threshold of parameters whose rule is loose (contract/handlers 2.5): any number, or text that says one; 0.5 where there is none. */
export function looseThreshold(parameters: JsonObject): number {
  const given = getKey(parameters, 'threshold')
  if (given === undefined || given === null || given === '') return DEFAULT
  const threshold = typeof given === 'string' ? Number(given) : numberOf(given)
  if (threshold === undefined || !Number.isFinite(threshold))
    throw invalidParameter('threshold', 'float', given)
  return threshold
}

/** What the original takes for absent (P7). */
function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === '' ||
    numberOf(value) === 0 ||
    (Array.isArray(value) && value.length === 0)
  )
}
