/** Returns a permit; calling it again does nothing. */
export type Release = () => void

/** A request for a permit, and its limits of waiting. */
export interface PermitRequest {
  /** Requests of one key (a project) wait in a separate queue, and the queues take turns. */
  readonly key: string
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Maximum waiting requests of this key. */
  readonly mostWaiting: number
}

/**
 * Limits concurrent work. Requests without a free permit wait in queues, one per key. The queues take turns, so a key with a thousand
 * requests does not delay others.
 */
export class Semaphore {
  readonly capacity: number
  readonly #permitsOfOne: number
  /** The functions that admit waiting requests, by key, in the order of turns. */
  readonly #lines = new Map<string, (() => void)[]>()
  readonly #heldBy = new Map<string, number>()
  #held = 0

  /** One key never holds more than `permitsOfOne`, so that slow clients of one key cannot have all permits. */
  constructor(capacity: number, permitsOfOne = capacity) {
    this.capacity = capacity
    this.#permitsOfOne = permitsOfOne
  }

  /** The number of held permits, and of waiting requests. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#held, waiting: [...this.#lines.values()].flat().length }
  }

  /**
   * Takes permits now; undefined if not enough are free. A request for more than the capacity gets them when no permit is held, because it
   * could never get them otherwise.
   */
  tryAcquire(permits = 1): Release | undefined {
    return this.#held === 0 || this.#held + permits <= this.capacity ? this.#hold('', permits) : undefined
  }

  /** Takes a permit in turn; undefined if too many requests of the key already wait. Rejects with the signal's reason. */
  async acquire({ key, signal, mostWaiting }: PermitRequest): Promise<Release | undefined> {
    signal.throwIfAborted()
    const line = this.#lines.get(key) ?? []
    if (line.length >= mostWaiting) return undefined
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.splice(line.indexOf(enter), 1)
        if (line.length === 0) this.#lines.delete(key)
        reject(signal.reason as Error) // an AbortController's own
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(this.#hold(key, 1))
      }
      signal.addEventListener('abort', leave, { once: true })
      line.push(enter)
      this.#lines.set(key, line)
      this.#letIn()
    })
  }

  /** Admits the next requests while permits are free. */
  #letIn(): void {
    while (this.#held < this.capacity) {
      const next = [...this.#lines].find(([key]) => this.#heldByOne(key) < this.#permitsOfOne)
      if (!next) return
      const [key, line] = next
      const enter = line.shift()
      this.#lines.delete(key)
      if (line.length > 0) this.#lines.set(key, line)
      enter?.()
    }
  }

  #hold(key: string, permits: number): Release {
    this.#count(key, permits)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#count(key, -permits)
      this.#letIn()
    }
  }

  #count(key: string, permits: number): void {
    this.#held += permits
    const own = this.#heldByOne(key) + permits
    if (own > 0) this.#heldBy.set(key, own)
    else this.#heldBy.delete(key)
  }

  #heldByOne(key: string): number {
    return this.#heldBy.get(key) ?? 0
  }
}
