import { Refusal, type FieldProblem, type RefusalCode } from '../../errors.ts'

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
  const errors = problems.slice(0, MOST_LISTED)
  const sentences = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  if (errors.length < count) sentences.push(`and ${count - errors.length} more problems`)
  return new Refusal(code, sentences.join('; '), { errors })
}
