import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Evaluation, EvaluationPlan, RowResult } from './evaluation.ts'
import { RunningSummary } from './tally.ts'

/** How often (milliseconds) the progress is reported. */
const MS_BETWEEN_REPORTS = 100

/** An evaluation that runs in this process. */
export class RunningEvaluation {
  readonly plan: EvaluationPlan
  readonly #tally: RunningSummary
  readonly #abort = new AbortController()
  #outcome: Promise<Evaluation> | undefined

  constructor(plan: EvaluationPlan) {
    this.plan = plan
    this.#tally = new RunningSummary(plan.evaluators.map(({ name }) => name))
    // Each call for a row adds a listener, and the concurrency limits their number.
    setMaxListeners(0, this.#abort.signal)
  }

  /** Aborted to stop the evaluation. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves to the finished or interrupted evaluation. Rejects with the error that made it fail. */
  get outcome(): Promise<Evaluation> {
    if (!this.#outcome) throw new Error('the evaluation has not begun')
    return this.#outcome
  }

  follow(outcome: Promise<Evaluation>): void {
    this.#outcome = outcome
    // Avoids an unhandled rejection if nothing awaits the outcome.
    outcome.catch(() => undefined)
  }

  add(results: readonly RowResult[]): void {
    for (const result of results) this.#tally.add(result)
  }

  now(): Evaluation {
    return { plan: this.plan, state: 'running', finishedAt: undefined, summary: this.#tally.summary() }
  }

  /** The progress, at once and then repeatedly, and finally the outcome. */
  async *progress(): AsyncGenerator<Evaluation> {
    const { outcome } = this
    const ended = new AbortController()
    outcome.finally(() => ended.abort()).catch(() => undefined)
    const { signal } = ended
    do {
      yield this.now()
      await pause(MS_BETWEEN_REPORTS, undefined, { signal }).catch(() => undefined)
    } while (!signal.aborted)
    yield await outcome
  }

  /** Resolves when nothing of the evaluation runs any more. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#outcome?.catch(() => undefined)
  }
}
