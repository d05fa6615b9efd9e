import { DeadlinePassed, runWithin } from '../../base/scheduling.ts'
import { TemplateFailure } from './template-format.ts'

/** Characters that all templates of a prompt may render to. */
const MOST_OUTPUT = 8 * 1024 * 1024
/** Characters and, sixty-four each, list items that a template may make on the way. */
const MOST_WORK = 16 * 1024 * 1024
/** Nodes of a template that may be evaluated, over all turns of its loops. */
const MOST_STEPS = 200_000
/** Milliseconds that all rendering of a prompt may hold the process up. */
const MOST_TIME = 1000

/**
 * What rendering may cost. One budget serves all templates of one run, so that a hundred hostile messages cost no more than one.
 * Counted limits stop a template long before the clock does; the clock is for what cannot be counted (a regular expression, a
 * parser). Every method throws a `TemplateFailure` once its limit is passed.
 */
export class RenderBudget {
  #output = MOST_OUTPUT
  #work = MOST_WORK
  #steps = MOST_STEPS
  #time: number
  readonly #milliseconds: number

  /** `milliseconds` may all rendering take; a second unless said. */
  constructor(milliseconds = MOST_TIME) {
    this.#time = milliseconds
    this.#milliseconds = milliseconds
  }

  /** `characters` more of what is rendered. */
  output(characters: number): void {
    this.#output -= characters
    if (!(this.#output >= 0)) {
      throw new TemplateFailure(
        `What is rendered is too long: at most ${MOST_OUTPUT} characters may come of a prompt.`,
      )
    }
  }

  /** Values of `size` characters, or 64 a list item, about to be made on the way to what is rendered. */
  work(size: number): void {
    this.#work -= size
    // What is no number has no bound, and would lift it for all that follows.
    if (!(this.#work >= 0)) {
      throw new TemplateFailure('The template makes too many values: make shorter loops, lists and texts.')
    }
  }

  /** `count` more nodes evaluated. */
  step(count = 1): void {
    this.#steps -= count
    if (!(this.#steps >= 0)) {
      throw new TemplateFailure(`The template takes more than ${MOST_STEPS} steps: make its loops shorter.`)
    }
  }

  /** What `work` returns, if the time that is left suffices; it is stopped wherever it is otherwise. */
  timed<T>(work: () => T): T {
    if (this.#time < 1) throw this.#tooSlow()
    const begun = performance.now()
    try {
      return runWithin(Math.ceil(this.#time), work)
    } catch (error) {
      throw error instanceof DeadlinePassed ? this.#tooSlow() : error
    } finally {
      this.#time -= performance.now() - begun
    }
  }

  #tooSlow(): TemplateFailure {
    return new TemplateFailure(
      `Rendering took more than ${this.#milliseconds} ms: make the templates of the prompt simpler.`,
    )
  }
}
