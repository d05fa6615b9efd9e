import { codePoints } from './code-points.ts'
import { compareInWorker } from '../worker/run-in-worker.ts'
import type { WorkerCaller } from '../worker/long-jobs.ts'
import { sequenceSimilarity } from './sequence-similarity.ts'
import { tooLarge } from '../worker/too-large.ts'

/** Some milliseconds. */
const FEW_STEPS = 200_000
/** About a second in a thread of its own. */
const MOST_STEPS = 100_000_000
/** Characters of both texts that are worth a try. */
const SHORT = 20_000
/** Characters of both texts that are taken at all. */
const LONG = 4_000_000

/**
 * How alike two texts are by their matching blocks (`sequenceSimilarity`). Throws `invalid-outputs` for texts that take too many steps:
 * ordinary ones of a hundred thousand characters do not, two that repeat themselves may.
 */
export function scoreSequence(a: string, b: string, caller: WorkerCaller): number | Promise<number> {
  if (a === b) return 1
  const length = a.length + b.length
  if (length > LONG) throw tooLarge(a, b)
  const score = length <= SHORT ? sequenceSimilarity(codePoints(a), codePoints(b), FEW_STEPS) : undefined
  return score ?? compareInWorker({ kind: 'sequence', a, b, mostSteps: MOST_STEPS }, caller)
}
