import { Refusal } from '../../errors.ts'
import { type Release, Semaphore } from '../../base/scheduling.ts'

/** Bodies up to this size are not counted, so that none of them waits for large ones: a thousand of them are 64 MB. */
export const FREE_BYTES = 64 * 1024

/** How many bytes the bodies of all requests together may take in memory. */
export class BodyBudget {
  readonly #bytes: Semaphore

  constructor(most: number) {
    this.#bytes = new Semaphore(most)
  }

  /** The share of one body, which is nothing yet. */
  share(): BodyShare {
    let release: Release | undefined
    return {
      hold: (bytes) => {
        release?.()
        release = bytes > FREE_BYTES ? this.#bytes.tryAcquire(bytes) : undefined
        if (bytes > FREE_BYTES && !release) throw full(this.#bytes.capacity)
      },
    }
  }
}

export interface BodyShare {
  /**
   * From now on the body takes so many bytes, more or fewer than before. Refuses with `overloaded` what does not fit beside the
   * bodies of others, and holds nothing then; a body that is alone always fits.
   */
  hold(bytes: number): void
}

function full(most: number): Refusal {
  return new Refusal(
    'overloaded',
    `The server holds as many large bodies as it takes at once (${most} bytes). Try again in a moment, or send less.`,
  )
}
