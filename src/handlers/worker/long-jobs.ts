import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { Refusal } from '../../errors.ts'
import { Semaphore } from '../../scheduling/semaphore.ts'
import type { HandlerContext } from '../handler.ts'
import type { TimedJob } from './long-job-thread.ts'
import type { WorkerJob, WorkerJobResult } from './long-job.ts'

/** What became of a job: its result; or that it took too long, that its thread broke down (out of memory), that nobody waited for it. */
export type WorkerOutcome = WorkerJobResult | 'late' | 'broken' | 'abandoned'

/** Whom a job is done for: the project takes its turn, nobody waits any more once the signal `untilGone` is aborted. */
export type WorkerCaller = Pick<HandlerContext, 'project' | 'untilGone' | 'isPatient'>

/**
 * Does jobs in threads of their own, so that nothing else waits for them. A job that takes longer than its limit is stopped there, one
 * whose caller has left with its thread. Threads start when they are needed, stay warm for a while, and keep no process alive. Jobs wait
 * here for a free one, projects in turns, and not in the pool's own queue, which knows no projects. The thread itself looks at the time:
 * what a job waits for before it begins, a thread that starts or this process that is busy, is not counted.
 */
export class WorkerPool {
  readonly #permits: Semaphore
  readonly #mostWaiting: number
  readonly #threads: Tinypool

  /** `mostWaiting` for each project. */
  constructor(mostThreads: number, mostWaiting: number) {
    this.#permits = new Semaphore(mostThreads)
    this.#mostWaiting = mostWaiting
    this.#threads = new Tinypool({
      // what runs is built, and built files end in .js
      filename: new URL('./long-job-thread.js', import.meta.url).href,
      name: 'doTimedJob',
      minThreads: 0,
      maxThreads: mostThreads,
      idleTimeout: WARM_MS,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    // a thread that dies with nothing to do is missed by nobody
    this.#threads.on('error', () => undefined)
  }

  /** How many jobs run, and how many wait for a thread. */
  get load(): Semaphore['load'] {
    return this.#permits.load
  }

  /**
   * Refuses with `overloaded` where too many of the project wait already. Those of patient callers always wait, in a line of their own,
   * so that whoever is impatient does not stand behind them.
   */
  async do(
    job: WorkerJob,
    limitMs: number,
    { project, untilGone, isPatient }: WorkerCaller,
  ): Promise<WorkerOutcome> {
    const signal = untilGone()
    try {
      const release = await this.#permits.acquire({
        // no project has a space in its name
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

/** How long a thread without a job stays. */
const WARM_MS = 5 * 60_000

/**
 * The threads of this process: as many as it has processors, and one that hangs is never all of them. Of each project so many jobs may
 * wait that the last of them has its turn within a minute or so.
 */
export const workerPool = new WorkerPool(Math.max(2, Math.min(4, availableParallelism())), 100)
