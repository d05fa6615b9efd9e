import { parentPort } from 'node:worker_threads'
import { doLongJob, type LongJob } from './long-job.ts'

/** The whole of a thread that `LongJobs` starts: a job in, its result out. */
parentPort?.on('message', (job: LongJob) => {
  parentPort?.postMessage(doLongJob(job))
})
