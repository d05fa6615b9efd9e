import { getKey, type JsonObject } from '../../../base/json.ts'
import { invalidParameter } from '../handler-failure.ts'
import { numberIn, type Verdict, verdictOn } from '../scoring.ts'
import { readChoice } from './read-choice.ts'

const SCORES = ['weighted', 'min', 'max'] as const
const SUCCESSES = ['all', 'any', 'threshold'] as const

/** How the results of several matchers are combined. */
export interface Aggregation {
  readonly score: (typeof SCORES)[number]
  readonly success: (typeof SUCCESSES)[number]
  readonly threshold: number
}

/**
 * The aggregation given by a matcher or the parameters: by default `weighted`, `threshold` and 1.0 (interface
 * 11.13). Throws `invalid-parameter`; `path` is the place of the fields, ending in a dot.
 */
export function readAggregation(fields: JsonObject, path: string): Aggregation {
  return {
    score: readChoice(fields, 'score', SCORES, 'weighted', path),
    success: readChoice(fields, 'success', SUCCESSES, 'threshold', path),
    threshold: readNumber(fields, 'threshold', path),
  }
}

/** A number of a matcher, or a numeric string; 1.0 by default. Throws `invalid-parameter`. */
export function readNumber(fields: JsonObject, name: string, path: string): number {
  const value = getKey(fields, name) ?? 1
  const number = numberIn(value)
  if (number === undefined || !Number.isFinite(number)) throw invalidParameter(path + name, 'float', value)
  return number
}

/** The mean (0 if all weights are 0), minimum or maximum score of at least one result. */
export function aggregate(
  results: readonly (Verdict & { readonly weight: number })[],
  { score: kind, success, threshold }: Aggregation,
): Verdict {
  const score =
    kind === 'weighted' ? mean(results) : results.map((it) => it.score).reduce((a, b) => Math[kind](a, b))
  if (success === 'all') return { score, success: results.every((result) => result.success) }
  if (success === 'any') return { score, success: results.some((result) => result.success) }
  return verdictOn(score, threshold)
}

function mean(results: readonly { readonly score: number; readonly weight: number }[]): number {
  let [sum, weights] = [0, 0]
  for (const { score, weight } of results) {
    sum += score * weight
    weights += weight
  }
  return weights === 0 ? 0 : sum / weights
}
