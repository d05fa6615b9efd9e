import type { FieldProblem, RefusalCode } from '../../errors.ts'
import { Refusal } from '../../errors.ts'
import { boundedText } from '../../json/json-values.ts'

/** How many problems a refusal names. */
export const MOST_LISTED = 100

/**
 * One refusal for everything that is wrong with a request: the problems in `errors`, and their sentences, each behind
 * its place, as the message. Past a hundred the rest is only counted, so that a body made of mistakes is not answered
 * with one many times its size; `count` is how many there are when not all of them are in the list.
 */
export function problemsRefusal(
  code: RefusalCode,
  problems: readonly FieldProblem[],
  count = problems.length,
): Refusal {
  const errors = problems.slice(0, MOST_LISTED).map(boundedProblem)
  const sentences = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  if (errors.length < count) sentences.push(`and ${count - errors.length} more problems`)
  return new Refusal(refusalCode(code, errors), sentences.join('; '), { errors })
}

/** The type of the problem that a key is that nobody reads. */
export const UNKNOWN_KEY = 'extra_forbidden'

/** The type of the problem that a field is that the server makes, in a request that cannot bring one. */
export const READ_ONLY = 'read_only_field'

/**
 * The code for these problems of a request: `unknown_field` if one of them is a key that nobody reads, `read_only_field` if one is the server's, so
 * that clients can tell (interface 2.10).
 */
export function refusalCode(code: RefusalCode, problems: readonly FieldProblem[]): RefusalCode {
  if (code !== 'invalid_request' && code !== 'invalid_delta') return code
  if (problems.some(({ type }) => type === UNKNOWN_KEY)) return 'unknown_field'
  return problems.some(({ type }) => type === READ_ONLY) ? READ_ONLY : code
}

const LONGEST_SENTENCE = 4000
const LONGEST_STEP = 200

/** The problem with long keys of its place, and a long sentence, cut short: either may quote what is as long as a body. */
export function boundedProblem({ loc, msg, type }: FieldProblem): FieldProblem {
  return {
    loc: loc.map((step) => (typeof step === 'string' ? boundedText(step, LONGEST_STEP) : step)),
    msg: boundedText(msg, LONGEST_SENTENCE),
    type,
  }
}
