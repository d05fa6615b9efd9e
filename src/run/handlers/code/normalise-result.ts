import { type Json, numberOf } from '../../../base/json.ts'
import { typeWord } from '../handler-failure.ts'
import { numberIn, type Verdict, verdictOn } from '../scoring.ts'

/** Up to version 2 a result is a score; from version 3 on it may be any JSON (interface 11.14). */
export type ResultVersion = '1' | '2' | '3'

/**
 * Converts the result of `evaluate` to outputs: a number is a score, with `success` if it reaches the
 * threshold. Throws a `ResultProblem` for a result that the version does not allow.
 */
export function normaliseResult(result: Json | undefined, version: ResultVersion, threshold: number): Json {
  const given = givenResult(result)
  const number = numberOf(given)
  if (number !== undefined) return scored(number, threshold)
  if (version === '3') return typeof given === 'boolean' ? { success: given } : given
  if (typeof given === 'boolean') return scored(Number(given), threshold)
  const written = typeof given === 'string' ? numberIn(given) : undefined
  if (written !== undefined) return scored(written, threshold)
  const got = `evaluate returned a ${typeWord(given)}, and version ${version} takes a number or a boolean`
  throw new ResultProblem(`${got}; return one of these, or set the parameter version to "3".`)
}

/**
 * The result of `evaluate`, unchanged. Throws a `ResultProblem` for no result, which is usually a forgotten
 * `return`.
 */
export function givenResult(result: Json | undefined): Json {
  if (result !== undefined && result !== null) return result
  throw new ResultProblem(
    'evaluate returned nothing; return a number, true or false, or (version 3) an object.',
  )
}

/** An invalid result of `evaluate`; the message says what is valid. */
export class ResultProblem extends Error {
  override readonly name = 'ResultProblem'
}

function scored(score: number, threshold: number): Verdict {
  if (!Number.isFinite(score))
    throw new ResultProblem('evaluate returned a number that is too large for a score; return a smaller one.')
  return verdictOn(score, threshold)
}
