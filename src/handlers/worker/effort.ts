import { yieldToEventLoop } from '../../scheduling/cooperative.ts'

/** How long one run may compute, all in all. */
const LIMIT_MS = 10_000
/** How long it may before others have their turn. */
const STRETCH_MS = 5

/**
 * The time that one run spends on a list of things, however long somebody made it: others go on in between, and a run that goes on for
 * more than ten seconds, not counting what others took, fails with what `tooMuch` makes.
 */
export class Effort {
  readonly #tooMuch: () => Error
  #left: number
  #since = performance.now()

  constructor(tooMuch: () => Error, limitMs = LIMIT_MS) {
    this.#tooMuch = tooMuch
    this.#left = limitMs
  }

  /** To be awaited between two things, each of which takes no longer than reading the request did. */
  async pause(): Promise<void> {
    const stretch = performance.now() - this.#since
    if (stretch < STRETCH_MS) return
    this.#left -= stretch
    if (this.#left < 0) throw this.#tooMuch()
    await yieldToEventLoop()
    this.#since = performance.now()
  }
}
