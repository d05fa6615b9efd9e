import { Worker } from 'node:worker_threads'
import { Refusal } from '../errors.ts'
import type { ThreadFailure, ThreadReply, ThreadWork, WorkName } from './thread/thread-messages.ts'

/** A thread that works on the files of traces, started when there is something to do. */
export class TraceThreadHandle {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  /**
   * Has work done, after all that was asked for before; `given` goes over to the thread instead of being copied. Rejects with the refusal that the thread made, with a
   * `TraceStorageError` when the file cannot be used, or with the bug.
   */
  call<W extends WorkName>(
    work: W,
    file: string,
    asks: ThreadWork[W]['asks'],
    given: readonly ArrayBuffer[] = [],
  ): Promise<ThreadWork[W]['answers']> {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      // What the thread answers to this work is of its type.
      this.#waiting.set(id, { resolve: (answer) => resolve(answer as ThreadWork[W]['answers']), reject })
      worker.postMessage({ id, work, file, asks }, given)
    })
  }

  /** Ends the thread in the midst of what it does; whoever waits gets the reason. */
  async stop(reason: Error): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll(reason)
    await worker?.terminate()
  }

  #start(): Worker {
    // The name that the compiler gives the file beside this one.
    const worker = new Worker(new URL('./thread/trace-thread.js', import.meta.url))
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
    worker.on('exit', () => ended(new Error('the thread of the traces ended')))
    return worker
  }

  #failAll(reason: Error): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(reason)
  }
}

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

/** The file of the traces cannot be used now; with `isDamage`, it never will be. */
export class TraceStorageError extends Error {
  override readonly name = 'TraceStorageError'
  readonly isDamage: boolean

  constructor(message: string, isDamage: boolean) {
    super(message)
    this.isDamage = isDamage
  }
}

function errorOf(failure: ThreadFailure): Error {
  if (failure.kind === 'refusal') return new Refusal(failure.code, failure.message, failure.data)
  if (failure.kind === 'storage') return new TraceStorageError(failure.message, failure.isDamage)
  return Object.assign(
    new Error(failure.message),
    failure.stack === undefined ? {} : { stack: failure.stack },
  )
}
