import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { FairQueue } from '../../scheduling/fair-queue.ts'
import type { HandlerContext } from '../handler.ts'
import { BEGUN, type WorkerJob, type WorkerJobResult } from './long-job.ts'

/** What became of a job: its result; or that it took too long, that its thread broke down (out of memory), that nobody waited for it. */
export type WorkerOutcome = WorkerJobResult | 'late' | 'broken' | 'abandoned'

/** Whom a job is done for: the project takes its turn, nobody waits any more once the signal is aborted. */
export type WorkerCaller = Pick<HandlerContext, 'project' | 'signal' | 'isPatient'>

/**
 * Does jobs in threads of their own, so that nothing else waits for them. A job that takes longer than its limit is stopped with its
 * thread, and so is one whose caller has left. Threads start when they are needed, stay warm, and keep no process alive; jobs that find
 * none free wait for one, projects in turns. The time of a job begins when its thread says so: one that has to start first, on a
 * machine that has much else to do, takes longer for that than most jobs do.
 */
export class WorkerPool {
  readonly #mostThreads: number
  readonly #mostWaiting: number
  readonly #idle = new Set<Worker>()
  readonly #running = new Map<Worker, Running>()
  readonly #waiting = new FairQueue<Task>()
  #threads = 0

  /** `mostWaiting` for each project. */
  constructor(mostThreads: number, mostWaiting: number) {
    this.#mostThreads = mostThreads
    this.#mostWaiting = mostWaiting
  }

  /** How many jobs run, and how many wait for a thread. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.length }
  }

  /**
   * Refuses with `overloaded` where too many of the project wait already. Those of patient callers always wait, in a line of their own,
   * so that whoever is impatient does not stand behind them.
   */
  async do(
    job: WorkerJob,
    limitMs: number,
    { project, signal, isPatient }: WorkerCaller,
  ): Promise<WorkerOutcome> {
    if (signal.aborted) return 'abandoned'
    if (!isPatient && this.#waiting.lengthOf(project) >= this.#mostWaiting) {
      throw new Refusal(
        'overloaded',
        `${this.#mostWaiting} long searches, comparisons and checks of this project wait already. Try again in a moment.`,
      )
    }
    return new Promise((resolve) => {
      const leave = (): void => this.#abandon(task)
      const settle = (outcome: WorkerOutcome): void => {
        signal.removeEventListener('abort', leave)
        resolve(outcome)
      }
      // no project has a space in its name
      const task: Task = { owner: isPatient ? `${project} patient` : project, job, limitMs, settle }
      signal.addEventListener('abort', leave)
      this.#waiting.add(task)
      this.#next()
    })
  }

  #abandon(task: Task): void {
    const [worker] = [...this.#running].find(([, running]) => running.task === task) ?? []
    if (worker) return this.#stop(worker, 'abandoned')
    this.#waiting.remove(task)
    task.settle('abandoned')
  }

  #next(): void {
    const [free] = this.#idle
    if (free === undefined && this.#threads >= this.#mostThreads) return
    const task = this.#waiting.take()
    if (task === undefined) return
    let worker: Worker
    try {
      worker = free ?? this.#start()
    } catch {
      // The machine has no thread to give; the next job tries again.
      return task.settle('broken')
    }
    this.#idle.delete(worker)
    worker.ref()
    this.#running.set(worker, { task, timer: undefined })
    worker.postMessage(task.job)
  }

  #start(): Worker {
    // what runs is built, and built files end in .js
    const worker = new Worker(new URL('./long-job-thread.js', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    this.#threads++
    worker.on('message', (said: WorkerJobResult | typeof BEGUN) => {
      const running = this.#running.get(worker)
      // one that was stopped may have been done at that moment
      if (running === undefined) return
      if (said === BEGUN) {
        running.timer = setTimeout(() => this.#stop(worker, 'late'), running.task.limitMs)
        return
      }
      worker.unref()
      this.#idle.add(worker)
      this.#settle(worker, said)
      this.#next()
    })
    // of what it dies, its end says as much as is needed
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#threads--
      this.#idle.delete(worker)
      this.#settle(worker, 'broken')
      this.#next()
    })
    return worker
  }

  /** Others have its turn once the thread has ended. */
  #stop(worker: Worker, why: 'late' | 'abandoned'): void {
    this.#settle(worker, why)
    void worker.terminate()
  }

  /** Tells the outcome to whoever waits for what the worker does; nobody does where it was stopped. */
  #settle(worker: Worker, outcome: WorkerOutcome): void {
    const running = this.#running.get(worker)
    if (running === undefined) return
    this.#running.delete(worker)
    clearTimeout(running.timer)
    running.task.settle(outcome)
  }
}

/**
 * The threads of this process: as many as it has processors, and one that hangs is never all of them. Of each project so many jobs may
 * wait that the last of them has its turn within a minute or so.
 */
export const workerPool = new WorkerPool(Math.max(2, Math.min(4, availableParallelism())), 100)

interface Running {
  readonly task: Task
  /** Stops it when its time is over; none before it has begun. */
  timer: NodeJS.Timeout | undefined
}

interface Task {
  readonly owner: string
  readonly job: WorkerJob
  readonly limitMs: number
  readonly settle: (outcome: WorkerOutcome) => void
}
