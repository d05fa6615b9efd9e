import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Evaluation, EvaluationPlan, RowResult } from './evaluation.ts'
import { RunningSummary } from './tally.ts'

/** How often those who follow an evaluation are told how far it is, in milliseconds. */
const RHYTHM = 100

/** An evaluation while it runs in this process. */
export class RunningEvaluation {
  readonly plan: EvaluationPlan
  readonly #tally: RunningSummary
  readonly #abort = new AbortController()
  #outcome: Promise<Evaluation> | undefined

  constructor(plan: EvaluationPlan) {
    this.plan = plan
    this.#tally = new RunningSummary(plan.evaluators.map(({ name }) => name))
    // One for each call that is made for a row, and it is known how many rows are run at once.
    setMaxListeners(0, this.#abort.signal)
  }

  /** Aborted when it is to stop. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** How it ends: finished, or interrupted. Rejects with what made it impossible to go on. */
  get outcome(): Promise<Evaluation> {
    if (!this.#outcome) throw new Error('the evaluation has not begun')
    return this.#outcome
  }

  follow(outcome: Promise<Evaluation>): void {
    this.#outcome = outcome
    // It goes on whether or not anybody waits for it; whoever does is told.
    outcome.catch(() => undefined)
  }

  add(results: readonly RowResult[]): void {
    for (const result of results) this.#tally.add(result)
  }

  now(): Evaluation {
    return { plan: this.plan, state: 'running', finishedAt: undefined, summary: this.#tally.summary() }
  }

  /** How far it is, at once and again and again, until it ends; then how it ended. */
  async *progress(): AsyncGenerator<Evaluation> {
    const { outcome } = this
    const ended = new AbortController()
    outcome.finally(() => ended.abort()).catch(() => undefined)
    const { signal } = ended
    do {
      yield this.now()
      await pause(RHYTHM, undefined, { signal }).catch(() => undefined)
    } while (!signal.aborted)
    yield await outcome
  }

  /** Resolves once nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#outcome?.catch(() => undefined)
  }
}
