import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { Refusal } from '../../../errors.ts'
import { Semaphore } from '../../../base/scheduling.ts'
import type { HandlerContext } from '../handler.ts'
import type { TimedJob } from './long-job-thread.ts'
import type { WorkerJob, WorkerJobResult } from './long-job.ts'

/**
 * The outcome of a job: its result, or it took too long, its thread crashed (out of memory), or its caller
 * left.
 */
export type WorkerOutcome = WorkerJobResult | 'late' | 'broken' | 'abandoned'

/**
 * The caller of a job: projects take turns, and the job is dropped when the signal `untilGone` is aborted.
 */
export type WorkerCaller = Pick<HandlerContext, 'project' | 'untilGone' | 'isPatient'>

/**
 * Runs jobs in separate threads so that they do not block the server. A job past its time limit is stopped;
 * the thread of a job whose caller left is ended. Threads start on demand, stay warm for a while, and do not
 * keep the process alive. Jobs wait here for a free thread, projects in turn, because the pool's own queue
 * knows no projects. The thread itself measures the time, so waiting for a thread to start or for this
 * process is not counted.
 */
export class WorkerPool {
  readonly #permits: Semaphore
  readonly #mostWaiting: number
  readonly #threads: Tinypool

  /** `mostWaiting` is per project. */
  constructor(mostThreads: number, mostWaiting: number) {
    this.#permits = new Semaphore(mostThreads)
    this.#mostWaiting = mostWaiting
    this.#threads = new Tinypool({
      // workers run the built file, which ends in .js
      filename: new URL('./long-job-thread.js', import.meta.url).href,
      name: 'doTimedJob',
      minThreads: 0,
      maxThreads: mostThreads,
      idleTimeout: WARM_MS,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    // an idle thread that dies is not missed
    this.#threads.on('error', () => undefined)
  }

  /** How many jobs run, and how many wait for a thread. */
  get load(): Semaphore['load'] {
    return this.#permits.load
  }

  /**
   * Throws `overloaded` if too many jobs of the project wait. Jobs of patient callers always wait, in a
   * separate queue, so that others do not wait behind them.
   */
  async do(
    job: WorkerJob,
    limitMs: number,
    { project, untilGone, isPatient }: WorkerCaller,
  ): Promise<WorkerOutcome> {
    const signal = untilGone()
    try {
      const release = await this.#permits.acquire({
        // project names contain no space
        key: isPatient ? `${project} patient` : project,
        signal,
        mostWaiting: isPatient ? Infinity : this.#mostWaiting,
      })
      if (!release) throw this.#overloaded()
      try {
        const timed: TimedJob = { job, limitMs }
        return await this.#threads.run(timed, { signal })
      } finally {
        release()
      }
    } catch (error) {
      if (signal.aborted) return 'abandoned'
      if (error instanceof Refusal) throw error
      return 'broken'
    }
  }

  #overloaded(): Refusal {
    return new Refusal(
      'overloaded',
      `${this.#mostWaiting} long searches, comparisons and checks of this project wait already. Try again in a moment.`,
    )
  }
}

const WARM_MS = 5 * 60_000

/**
 * The threads of this process: one per processor, from two to four, so that a hanging one never blocks all.
 * The number of waiting jobs per project is limited so that the last one starts within about a minute.
 */
export const workerPool = new WorkerPool(Math.max(2, Math.min(4, availableParallelism())), 100)
