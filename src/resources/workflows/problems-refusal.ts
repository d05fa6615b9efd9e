import { Refusal, type FieldProblem, type RefusalCode } from '../../errors.ts'

/**
 * One refusal for everything that is wrong with a request: the problems in `errors`, and their sentences, each behind
 * its place, as the message. Past a hundred the rest is only counted, so that a body made of mistakes is not answered
 * with one many times its size.
 */
export function problemsRefusal(code: RefusalCode, problems: readonly FieldProblem[]): Refusal {
  const errors = problems.slice(0, MOST_LISTED)
  const sentences = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  if (errors.length < problems.length) sentences.push(`and ${problems.length - errors.length} more problems`)
  return new Refusal(code, sentences.join('; '), { errors })
}

const MOST_LISTED = 100
