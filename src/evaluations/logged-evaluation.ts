import type { Evaluation } from './evaluation.ts'
import type { EvaluationLog } from './evaluation-log.ts'
import { RunningSummary } from './tally.ts'

/** What the log of an evaluation says that does not run here. What it said before is not read again. */
export class LoggedEvaluation {
  readonly #log: EvaluationLog
  readonly #tally: RunningSummary
  /** So many bytes of the log are counted. */
  #position = 0
  #ended: Evaluation | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(log: EvaluationLog) {
    this.#log = log
    this.#tally = new RunningSummary(log.plan.evaluators.map(({ name }) => name))
  }

  /** How it stands; `isRunning` says whether somebody works on it, which no log does. */
  async now(isRunning: () => Promise<boolean>): Promise<Evaluation> {
    const { plan } = this.#log
    const ended = this.#end()
    if (ended) return ended
    const state = (await isRunning()) ? 'running' : 'interrupted'
    // It may have come to its end before that was asked.
    const late = state === 'interrupted' ? this.#end() : undefined
    if (late) return late
    // One after the other: two that read at once would count rows twice.
    const reading = this.#reading.then(() => this.#readOn())
    this.#reading = reading.catch(() => undefined)
    await reading
    return { plan, state, finishedAt: undefined, summary: this.#tally.summary() }
  }

  #end(): Evaluation | undefined {
    const end = this.#ended ? undefined : this.#log.end()
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
