import { outputsProblem } from '../handler-failure.ts'
import type { WorkerJob } from './long-job.ts'
import { workerPool, type WorkerCaller } from './long-jobs.ts'
import { tooLarge } from './too-large.ts'

/** Far more than the limit on steps allows, except on a very busy machine. */
const LIMIT_MS = 30_000

/**
 * Compares two texts in another thread. Throws `tooLarge` if it did not finish; refuses as `WorkerPool` does.
 */
export async function compareInWorker(
  job: Extract<WorkerJob, { readonly a: string }>,
  caller: WorkerCaller,
): Promise<number> {
  const outcome = await workerPool.do(job, LIMIT_MS, caller)
  if (outcome === 'abandoned') throw outputsProblem('The texts were not compared: the request ended before.')
  if (typeof outcome === 'object' && 'found' in outcome && typeof outcome.found === 'number')
    return outcome.found
  throw tooLarge(job.a, job.b)
}
