import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { LongJob, LongJobResult } from './long-job.ts'

/** What became of a job: its result, or that it took too long, or that its thread broke down (out of memory). */
export type LongJobOutcome = LongJobResult | 'late' | 'broken'

/**
 * Does jobs in threads of their own, so that nothing else waits for them. A job that takes longer than its limit is stopped with its
 * thread. Threads start when they are needed, stay warm, and keep no process alive; jobs that find none free wait for one in turn, and
 * their time begins when they have it.
 */
export class LongJobs {
  readonly #mostThreads: number
  readonly #idle = new Set<Worker>()
  readonly #running = new Map<Worker, { readonly task: Task; readonly timer: NodeJS.Timeout }>()
  readonly #waiting: Task[] = []
  #threads = 0

  constructor(mostThreads: number) {
    this.#mostThreads = mostThreads
  }

  /** Never rejects. */
  do(job: LongJob, limitMs: number): Promise<LongJobOutcome> {
    return new Promise((settle) => {
      this.#waiting.push({ job, limitMs, settle })
      this.#next()
    })
  }

  #next(): void {
    const [free] = this.#idle
    if (free === undefined && this.#threads >= this.#mostThreads) return
    const task = this.#waiting.shift()
    if (task === undefined) return
    const worker = free ?? this.#start()
    this.#idle.delete(worker)
    worker.ref()
    const timer = setTimeout(() => {
      this.#settle(worker, 'late')
      void worker.terminate()
    }, task.limitMs)
    this.#running.set(worker, { task, timer })
    worker.postMessage(task.job)
  }

  #start(): Worker {
    this.#threads++
    // what runs is built, and built files end in .js
    const worker = new Worker(new URL('./long-job-thread.js', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    })
    worker.on('message', (result: LongJobResult) => {
      worker.unref()
      this.#idle.add(worker)
      this.#settle(worker, result)
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

  /** Tells the outcome to whoever waits for what the worker does; nobody does where it was late. */
  #settle(worker: Worker, outcome: LongJobOutcome): void {
    const running = this.#running.get(worker)
    if (running === undefined) return
    this.#running.delete(worker)
    clearTimeout(running.timer)
    running.task.settle(outcome)
  }
}

/** The threads of this process: as many as it has processors, and one that hangs is never all of them. */
export const longJobs = new LongJobs(Math.max(2, Math.min(4, availableParallelism())))

interface Task {
  readonly job: LongJob
  readonly limitMs: number
  readonly settle: (outcome: LongJobOutcome) => void
}
