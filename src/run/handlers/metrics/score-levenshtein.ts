import { codePoints } from './code-points.ts'
import { compareInWorker } from '../worker/run-in-worker.ts'
import { levenshteinSteps } from './levenshtein-distance.ts'
import { levenshteinSimilarity } from './levenshtein-similarity.ts'
import type { WorkerCaller } from '../worker/long-jobs.ts'
import { tooLarge } from '../worker/too-large.ts'

/** A few milliseconds, for example two texts of 2,500 characters each. */
const FEW_STEPS = 200_000
/**
 * About a second in a separate thread, for example two texts of 56,000 characters each, or one of 3,000,000
 * and one of 1,000.
 */
const MOST_STEPS = 100_000_000

/**
 * The similarity of two texts by edit distance (`levenshteinSimilarity`). Common beginnings and ends may have
 * any length. Throws `invalid-outputs` if the product of the remaining lengths exceeds 3.2·10⁹.
 */
export function scoreLevenshtein(a: string, b: string, caller: WorkerCaller): number | Promise<number> {
  if (a === b) return 1
  const [left, right] = [codePoints(a), codePoints(b)]
  const steps = levenshteinSteps(left, right)
  if (steps > MOST_STEPS) throw tooLarge(a, b)
  return steps > FEW_STEPS
    ? compareInWorker({ kind: 'levenshtein', a, b }, caller)
    : levenshteinSimilarity(left, right)
}
