import { Refusal } from '../../errors.ts'

/** How many wait for each place that is taken. */
const WAITING_PER_PLACE = 4

/**
 * Room for so many at once, and a short queue before it: git programs take memory and processor time, and more of them than the
 * machine can run only make each other slower.
 */
export class Places {
  readonly #most: number
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many are at work, and how many wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#taken, waiting: this.#waiting.size }
  }

  /**
   * Resolves with what gives the place back (calling it again does nothing). Refuses with `overloaded` when the queue is full, and
   * rejects when the signal comes first.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#taken < this.#most) this.#taken++
    else await this.#wait(signal)
    let isHeld = true
    return () => {
      if (isHeld) this.#giveBack()
      isHeld = false
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#most * WAITING_PER_PLACE) {
      throw new Refusal(
        'overloaded',
        'So many clones, fetches and pushes are under way that this one would wait long. Try again in a moment.',
      )
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(enter)
        reject(signal.reason as Error) // an AbortController's own
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(enter)
    })
  }

  /** To who has waited longest, if anybody does. */
  #giveBack(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#taken--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
