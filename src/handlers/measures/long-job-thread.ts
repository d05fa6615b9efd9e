import { parentPort } from 'node:worker_threads'
import { doLongJob, type LongJob } from './long-job.ts'

/** The whole of a thread that `LongJobs` starts: a job in, its result out. */
parentPort?.on('message', async (job: LongJob) => {
  // what compiles schemas takes longer to load than most jobs take
  const result = job.kind === 'schema' ? (await import('./schema-job.ts')).doSchemaJob(job) : doLongJob(job)
  parentPort?.postMessage(result)
})
