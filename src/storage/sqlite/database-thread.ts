import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import { END, type ThreadFailure, type ThreadReply, type Works } from './thread-messages.ts'
import { ThreadSignal } from './thread-signal.ts'

/** A thread that works on SQLite files, started on first use; see serveFiles for its program. */
export class DatabaseThread<W extends Works<W>> {
  readonly #program: URL
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #signal = new ThreadSignal()
  #lastId = 0

  /** `program` is the compiled file that the thread runs. */
  constructor(program: URL) {
    this.#program = program
  }

  /**
   * Runs work in the thread, after all earlier calls. Rejects with the Refusal that the thread threw, with `DatabaseTrouble` if the file
   * cannot be used, or with an unexpected error.
   */
  call<N extends keyof W>(
    work: N,
    file: string,
    asks: W[N]['asks'],
    inodes?: string,
  ): Promise<W[N]['answers']> {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      // The thread's answer has the type of the work.
      this.#waiting.set(id, { resolve: (answer) => resolve(answer as W[N]['answers']), reject })
      worker.postMessage({ id, work, file, asks, inodes })
    })
  }

  /** Ends the thread during its work; pending calls reject with the reason at once. Resolves when the thread has ended. */
  async stop(reason: Error): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll(reason)
    if (worker) await endThread(worker, this.#signal)
  }

  #start(): Worker {
    this.#signal = new ThreadSignal()
    const worker = new Worker(this.#program, { workerData: this.#signal.memory })
    worker.on('message', (reply: ThreadReply) => {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if ('failure' in reply) waiting?.reject(errorOf(reply.failure))
      else waiting?.resolve(reply.answer)
    })
    const ended = (reason: Error): void => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#failAll(reason)
    }
    worker.on('error', ended)
    worker.on('exit', () => ended(new Error('the thread ended')))
    return worker
  }

  #failAll(reason: Error): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(reason)
  }
}

/**
 * Lets the thread end by itself, because terminating it while SQLite works would end the process. Only an endless match is terminated, which
 * does not use SQLite.
 */
async function endThread(worker: Worker, signal: ThreadSignal): Promise<void> {
  const ended = once(worker, 'exit')
  signal.askToEnd()
  worker.postMessage(END)
  // After this time, the thread can only still be in the same match.
  const looking = setInterval(() => {
    if (signal.isMatching) void worker.terminate()
  }, MS_BETWEEN_CHECKS)
  try {
    await ended
  } finally {
    clearInterval(looking)
  }
}

const MS_BETWEEN_CHECKS = 250

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

/** The file cannot be used now; with `isDamage`, never. */
export class DatabaseTrouble extends Error {
  override readonly name = 'DatabaseTrouble'
  readonly isDamage: boolean

  constructor(message: string, isDamage: boolean) {
    super(message)
    this.isDamage = isDamage
  }
}

function errorOf(failure: ThreadFailure): Error {
  if (failure.kind === 'refusal') return new Refusal(failure.code, failure.message, failure.data)
  if (failure.kind === 'storage') return new DatabaseTrouble(failure.message, failure.isDamage)
  return Object.assign(
    new Error(failure.message),
    failure.stack === undefined ? {} : { stack: failure.stack },
  )
}
