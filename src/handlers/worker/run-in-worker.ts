import { outputsProblem } from '../handler-failure.ts'
import type { LongJob } from './long-job.ts'
import { longJobs, type LongJobCaller } from './long-jobs.ts'
import { tooLarge } from './too-large.ts'

/** Far more than what the steps allow takes, unless the machine is very busy. */
const LIMIT_MS = 30_000

/** The measure of two texts, computed in another thread. Throws `tooLarge` if it did not come to an end; refuses as `LongJobs` does. */
export async function compareAside(
  job: Extract<LongJob, { readonly a: string }>,
  caller: LongJobCaller,
): Promise<number> {
  const outcome = await longJobs.do(job, LIMIT_MS, caller)
  if (outcome === 'abandoned') throw outputsProblem('The texts were not compared: the request ended before.')
  if (typeof outcome === 'object' && 'found' in outcome && typeof outcome.found === 'number')
    return outcome.found
  throw tooLarge(job.a, job.b)
}
