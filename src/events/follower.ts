/**
 * So many characters may wait for a follower, which is twice what one who comes back is sent at once. One for whom more waits does not read, or not
 * fast enough, and is cut off.
 */
const MOST_WAITING = 512 * 1024

/** One who follows a project's events: what is pushed here it gets in this order, as fast as it reads. */
export class Follower {
  readonly #isStillIn: () => boolean
  #waiting: string[] = []
  #length = 0
  #isOver = false
  #wake: (() => void) | undefined

  /** `isStillIn` says whether whoever follows may still be told, and is asked before each piece. */
  constructor(isStillIn: () => boolean) {
    this.#isStillIn = isStillIn
  }

  push(text: string): void {
    if (this.#isOver) return
    this.#waiting.push(text)
    this.#length += text.length
    if (this.#length > MOST_WAITING) this.end()
    else this.#wake?.()
  }

  /** Says that the connection is alive, to who has nothing waiting; ends who may not be told any more. */
  remind(text: string): void {
    if (!this.#isStillIn()) this.end()
    else if (this.#waiting.length === 0) this.push(text)
  }

  /** Nothing is told any more, what waits included. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
    this.#wake?.()
  }

  /** What is pushed, in pieces, until the end. */
  async *pieces(): AsyncGenerator<string> {
    for (;;) {
      while (this.#waiting.length === 0 && !this.#isOver)
        await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
      if (this.#isOver || !this.#isStillIn()) return
      const piece = this.#waiting.join('')
      this.#waiting = []
      this.#length = 0
      yield piece
    }
  }
}
