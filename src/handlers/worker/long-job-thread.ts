import { parentPort } from 'node:worker_threads'
import { BEGUN, doLongJob, type LongJob, type LongJobResult } from './long-job.ts'

/** The whole of a thread that `LongJobs` starts: a job in; out that it has begun, then its result. */
parentPort?.on('message', async (job: LongJob) => {
  const work = await workOf(job)
  parentPort?.postMessage(BEGUN)
  parentPort?.postMessage(work())
})

async function workOf(job: LongJob): Promise<() => LongJobResult> {
  if (job.kind !== 'schema') return () => doLongJob(job)
  // what compiles schemas takes longer to load than most jobs take
  const { doSchemaJob } = await import('./schema-job.ts')
  return () => doSchemaJob(job)
}
