import { Refusal } from '../../../errors.ts'
import { traceThread, type TraceThread } from '../storage/thread-work.ts'

/** Works on a query in a thread. The signal aborts, and the thread ends, when the time limit is reached. */
export type Work<T> = (thread: Pick<TraceThread, 'call'>, signal: AbortSignal) => Promise<T>

/**
 * Answers queries in a separate thread, one at a time, so that a slow query delays neither requests nor writes. A query that exceeds the time
 * limit (such as a regular expression that backtracks endlessly) is ended with its thread.
 */
export class TraceReader {
  readonly #limitMs: number
  readonly #thread = traceThread()
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isClosed = false
  #current = new AbortController()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The time limit of a query, in milliseconds. */
  get limitMs(): number {
    return this.#limitMs
  }

  /** Works on a query in its turn. Refuses with `query_too_slow`, or with `overloaded` if too many wait. */
  async answer<T>(work: Work<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) {
      throw new Refusal(
        'overloaded',
        `${this.#waiting} queries of traces wait already. Ask again in a moment.`,
      )
    }
    this.#waiting++
    const answer = this.#last.then(() => this.#inTime(work))
    this.#last = answer.catch(() => undefined)
    return answer.finally(() => this.#waiting--)
  }

  /** Ends the current query and rejects the waiting ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#current.abort(closed())
    await this.#thread.stop(closed())
    await this.#last
  }

  async #inTime<T>(work: Work<T>): Promise<T> {
    if (this.#isClosed) throw closed()
    const controller = (this.#current = new AbortController())
    const { signal } = controller
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
    const timer = setTimeout(() => {
      controller.abort(tooSlow(this.#limitMs))
      void this.#thread.stop(tooSlow(this.#limitMs))
    }, this.#limitMs)
    try {
      return await Promise.race([work(this.#thread, signal), ended])
    } finally {
      clearTimeout(timer)
    }
  }
}

const MOST_WAITING = 100

function closed(): Refusal {
  return new Refusal('storage_unavailable', 'This server is about to stop. Ask again once it has started.')
}

/** The refusal of a query that does not end in time. */
export function tooSlow(limitMs: number): Refusal {
  return new Refusal(
    'query_too_slow',
    `The query took longer than ${limitMs / 1000} s and was stopped. Narrow it by time (windowing.oldest), by span_name or by ` +
      'trace_type, and check the patterns of `matches`: nested repetitions such as (a+)+ can take for ever.',
  )
}
