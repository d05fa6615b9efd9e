import { DeadlinePassed, runWithin } from '../../../base/scheduling.ts'
import { doWorkerJob, type WorkerJob, type WorkerJobResult } from './long-job.ts'

/** A job, and its time limit once it has begun. */
export interface TimedJob {
  readonly job: WorkerJob
  readonly limitMs: number
}

/** Runs a job in a thread of `WorkerPool`. */
export async function doTimedJob({ job, limitMs }: TimedJob): Promise<WorkerJobResult | 'late'> {
  const work = await workOf(job)
  try {
    return runWithin(limitMs, work)
  } catch (error) {
    if (error instanceof DeadlinePassed) return 'late'
    throw error
  }
}

async function workOf(job: WorkerJob): Promise<() => WorkerJobResult> {
  if (job.kind !== 'schema') return () => doWorkerJob(job)
  // the schema compiler takes longer to load than most jobs take
  const { doSchemaJob } = await import('./schema-job.ts')
  return () => doSchemaJob(job)
}
