import { codePoints } from './code-points.ts'
import { compareInWorker } from '../worker/run-in-worker.ts'
import type { WorkerCaller } from '../worker/long-jobs.ts'
import { sequenceSimilarity } from './sequence-similarity.ts'
import { tooLarge } from '../worker/too-large.ts'

/** A few milliseconds. */
const FEW_STEPS = 200_000
/** About a second in a separate thread. */
const MOST_STEPS = 100_000_000
/** Maximum length of both texts to try on this thread. */
const MAX_LENGTH_HERE = 20_000
/** Maximum length of both texts. */
const MAX_LENGTH = 4_000_000

/**
 * The similarity of two texts by matching blocks (`sequenceSimilarity`). Throws `invalid-outputs` for texts
 * that take too many steps: ordinary texts of a hundred thousand characters do not, repetitive ones may.
 */
export function scoreSequence(a: string, b: string, caller: WorkerCaller): number | Promise<number> {
  if (a === b) return 1
  const length = a.length + b.length
  if (length > MAX_LENGTH) throw tooLarge(a, b)
  const score =
    length <= MAX_LENGTH_HERE ? sequenceSimilarity(codePoints(a), codePoints(b), FEW_STEPS) : undefined
  return score ?? compareInWorker({ kind: 'sequence', a, b, mostSteps: MOST_STEPS }, caller)
}
