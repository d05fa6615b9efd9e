import { numberOf, type Json } from '../../json/json.ts'
import { invalidParameter } from '../handler-failure.ts'
import { isFalsy } from './is-falsy.ts'
import { numberIn } from './number-in.ts'

const USUAL = 0.5

/**
 * The score from which on a run succeeds (interface 11.4): 0.5 where `value` is falsy, else a number above 0 and up to 1, an
 * integer or not. Throws `invalid-parameter`, always at `threshold`.
 */
export function readThreshold(value: Json | undefined): number {
  const threshold = readFreeThreshold(value)
  if (threshold > 0 && threshold <= 1) return threshold
  throw invalidParameter('threshold', 'float[0.0, 1.0]', value)
}

/** The same for a judge, whose scores may be of any size. */
export function readFreeThreshold(value: Json | undefined): number {
  if (isFalsy(value)) return USUAL
  const threshold = numberOf(value)
  if (threshold === undefined) throw invalidParameter('threshold', 'float', value)
  return threshold
}

/** The same for custom code (interface 11.14): a text that spells the number will do, and 0 is 0. */
export function readLooseThreshold(value: Json | undefined): number {
  if (value === undefined || value === null || value === '') return USUAL
  const threshold = numberIn(value)
  if (threshold === undefined || !Number.isFinite(threshold))
    throw invalidParameter('threshold', 'float', value)
  return threshold
}
