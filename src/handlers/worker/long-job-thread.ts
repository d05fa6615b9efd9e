import { parentPort } from 'node:worker_threads'
import { BEGUN, doWorkerJob, type WorkerJob, type WorkerJobResult } from './long-job.ts'

/** The whole of a thread that `WorkerPool` starts: a job in; out that it has begun, then its result. */
parentPort?.on('message', async (job: WorkerJob) => {
  const work = await workOf(job)
  parentPort?.postMessage(BEGUN)
  parentPort?.postMessage(work())
})

async function workOf(job: WorkerJob): Promise<() => WorkerJobResult> {
  if (job.kind !== 'schema') return () => doWorkerJob(job)
  // what compiles schemas takes longer to load than most jobs take
  const { doSchemaJob } = await import('./schema-job.ts')
  return () => doSchemaJob(job)
}
