import { DeadlinePassed, runWithin } from '../../base/scheduling.ts'
import { TemplateFailure } from './template-format.ts'

/** Maximum characters in the output of all templates of a prompt. */
const MOST_OUTPUT = 8 * 1024 * 1024
/** Maximum characters of intermediate values of a template; a list item counts as sixty-four. */
const MOST_WORK = 16 * 1024 * 1024
/** Maximum evaluated nodes of templates, over all iterations of loops. */
const MOST_STEPS = 200_000
/** Maximum milliseconds for which rendering a prompt may block the process. */
const MOST_TIME = 1000

/**
 * Limits the cost of rendering. One budget serves all templates of a run, so that a hundred hostile messages cost no more than one. The
 * counted limits stop a template long before the clock; the clock is for work that cannot be counted (a regular expression, a parser).
 * Every method throws a `TemplateFailure` past its limit.
 */
export class RenderBudget {
  #output = MOST_OUTPUT
  #work = MOST_WORK
  #steps = MOST_STEPS
  #time: number
  #isTimed = false
  readonly #milliseconds: number

  /** `milliseconds` is the limit for all rendering; by default a second. */
  constructor(milliseconds = MOST_TIME) {
    this.#time = milliseconds
    this.#milliseconds = milliseconds
  }

  /** Counts characters of output. */
  output(characters: number): void {
    this.#output -= characters
    if (!(this.#output >= 0)) {
      throw new TemplateFailure(
        `What is rendered is too long: at most ${MOST_OUTPUT} characters may come of a prompt.`,
      )
    }
  }

  /** Counts an intermediate value of `size` characters (64 for a list item) before it is made. */
  work(size: number): void {
    this.#work -= size
    // A size that is not a number would disable the limit for all later ones.
    if (!(this.#work >= 0)) {
      throw new TemplateFailure('The template makes too many values: make shorter loops, lists and texts.')
    }
  }

  /** Counts evaluated nodes. */
  step(count = 1): void {
    this.#steps -= count
    if (!(this.#steps >= 0)) {
      throw new TemplateFailure(`The template takes more than ${MOST_STEPS} steps: make its loops shorter.`)
    }
  }

  /**
   * Runs `work` within the remaining time, and stops it at the limit; the failure then begins with the place that `at` answers. A call inside
   * `work` uses the same clock, because starting one takes longer than rendering a short template.
   */
  timed<T>(work: () => T, at?: () => string): T {
    if (this.#isTimed) return work()
    if (this.#time < 1) throw this.#tooSlow(at)
    const begun = performance.now()
    this.#isTimed = true
    try {
      return runWithin(Math.ceil(this.#time), work)
    } catch (error) {
      throw error instanceof DeadlinePassed ? this.#tooSlow(at) : error
    } finally {
      this.#isTimed = false
      this.#time -= performance.now() - begun
    }
  }

  #tooSlow(at: (() => string) | undefined): TemplateFailure {
    const place = at ? `${at()}: ` : ''
    return new TemplateFailure(
      `${place}Rendering took more than ${this.#milliseconds} ms: make the templates of the prompt simpler.`,
    )
  }
}
