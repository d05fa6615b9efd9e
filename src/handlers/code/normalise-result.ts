import { type Json, numberOf } from '../../json/json.ts'
import { typeWord } from '../handler-failure.ts'
import { numberIn, type Verdict, verdictOn } from '../scoring.ts'

/** Up to version 2 a result is a score; from version 3 on it may be any JSON (interface 11.14). */
export type ResultVersion = '1' | '2' | '3'

/**
 * The outputs that what `evaluate` returned stands for: a number is a score, with `success` where it reaches the threshold. Throws a
 * `ResultProblem` for what the version has no use for.
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

/** What `evaluate` returned, as it is. Throws a `ResultProblem` for nothing, which most often is a `return` that was forgotten. */
export function givenResult(result: Json | undefined): Json {
  if (result !== undefined && result !== null) return result
  throw new ResultProblem(
    'evaluate returned nothing; return a number, true or false, or (version 3) an object.',
  )
}

/** What `evaluate` returned is of no use; the message says what would be. */
export class ResultProblem extends Error {
  override readonly name = 'ResultProblem'
}

function scored(score: number, threshold: number): Verdict {
  if (!Number.isFinite(score))
    throw new ResultProblem('evaluate returned a number that is too large for a score; return a smaller one.')
  return verdictOn(score, threshold)
}
