import type { LongJob } from './long-job.ts'
import { longJobs } from './long-jobs.ts'
import { tooLarge } from './too-large.ts'

/** Far more than what the steps allow takes, unless the machine is very busy. */
const LIMIT_MS = 30_000

/** The measure of two texts, computed in another thread. Throws `tooLarge` if it did not come to an end. */
export async function compareAside(job: Extract<LongJob, { readonly a: string }>): Promise<number> {
  const outcome = await longJobs.do(job, LIMIT_MS)
  if (typeof outcome === 'object' && 'found' in outcome && typeof outcome.found === 'number')
    return outcome.found
  throw tooLarge(job.a, job.b)
}
