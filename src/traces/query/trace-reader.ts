import { Refusal } from '../../errors.ts'
import type { TracePage, TraceQuestion } from '../storage/query-traces.ts'
import { traceThread } from '../storage/start-trace-thread.ts'

/**
 * Answers questions on a thread of its own, one after the other, so that a slow one delays neither a request nor what is written.
 * One that takes too long (a regular expression that backtracks for ever) is ended with its thread.
 */
export class TraceReader {
  readonly #limitMs: number
  readonly #thread = traceThread()
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Refuses with `query_too_slow`, or with `overloaded` when too many wait. */
  query(file: string, question: TraceQuestion): Promise<TracePage> {
    return this.#inLine(() => this.#thread.call('query', file, { question }))
  }

  /** The same for the id of some trace that names something whose id ends in these digits. */
  naming(file: string, digits: string): Promise<string | undefined> {
    return this.#inLine(() => this.#thread.call('naming', file, { digits }))
  }

  async #inLine<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) {
      throw new Refusal(
        'overloaded',
        `${this.#waiting} queries of traces wait already. Ask again in a moment.`,
      )
    }
    this.#waiting++
    const answer = this.#last.then(() => this.#inTime(ask))
    this.#last = answer.catch(() => undefined)
    return answer.finally(() => this.#waiting--)
  }

  /** Ends the question that is being answered, and asks none of those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.stop(closed())
    await this.#last
  }

  async #inTime<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed()
    const timer = setTimeout(() => void this.#thread.stop(tooSlow(this.#limitMs)), this.#limitMs)
    try {
      return await ask()
    } finally {
      clearTimeout(timer)
    }
  }
}

const MOST_WAITING = 100

function closed(): Refusal {
  return new Refusal('storage_unavailable', 'This server is about to stop. Ask again once it has started.')
}

function tooSlow(limitMs: number): Refusal {
  return new Refusal(
    'query_too_slow',
    `The query took longer than ${limitMs / 1000} s and was stopped. Narrow it by time (windowing.oldest), by span_name or by ` +
      'trace_type, and check the patterns of `matches`: nested repetitions such as (a+)+ can take for ever.',
  )
}
