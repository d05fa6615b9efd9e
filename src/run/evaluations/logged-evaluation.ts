import type { Evaluation } from './evaluation.ts'
import type { EvaluationLog } from './evaluation-log.ts'
import { RunningSummary } from './tally.ts'

/** The state of an evaluation that does not run in this process, from its log. Each row of the log is read only once. */
export class LoggedEvaluation {
  readonly #log: EvaluationLog
  readonly #tally: RunningSummary
  /** How many bytes of the log were counted. */
  #position = 0
  #ended: Evaluation | undefined
  /** Of the log when it had ended: rows that are run again change it. */
  #stamp = ''
  #reading: Promise<unknown> = Promise.resolve()

  constructor(log: EvaluationLog) {
    this.#log = log
    this.#tally = new RunningSummary(log.plan.evaluators.map(({ name }) => name))
  }

  /** The current state. `isRunning` tells whether some server runs the evaluation, which the log does not. */
  async now(isRunning: () => Promise<boolean>): Promise<Evaluation> {
    const { plan } = this.#log
    const ended = this.#end()
    if (ended) return ended
    const state = (await isRunning()) ? 'running' : 'interrupted'
    // The evaluation may have ended before `isRunning` was called.
    const late = state === 'interrupted' ? this.#end() : undefined
    if (late) return late
    // Reads are queued, because concurrent ones would count rows twice.
    const reading = this.#reading.then(() => this.#readOn())
    this.#reading = reading.catch(() => undefined)
    await reading
    return { plan, state, finishedAt: undefined, summary: this.#tally.summary() }
  }

  #end(): Evaluation | undefined {
    if (this.#ended && this.#stamp === this.#log.stamp) return this.#ended
    this.#stamp = this.#log.stamp
    const end = this.#log.end()
    if (end)
      this.#ended = {
        plan: this.#log.plan,
        state: 'finished',
        finishedAt: end.finished_at,
        summary: end.summary,
      }
    return this.#ended
  }

  async #readOn(): Promise<void> {
    for await (const row of this.#log.rows(this.#position)) {
      this.#tally.add(row.read())
      this.#position = row.place.end
    }
  }
}
