/** Gives back what was acquired; calling it again does nothing. */
export type Release = () => void

/** Who asks for a permit, and how long it waits for one. */
export interface PermitRequest {
  /** Those of one key (a project) wait in a line of their own, and the lines take turns. */
  readonly key: string
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** How many of this key may wait already. */
  readonly mostWaiting: number
}

/**
 * Lets so much go on at once. Those that find no permit free wait in lines, one for each key: each line gets its first one served
 * before any gets another, so that whoever asks a thousand times is in nobody's way.
 */
export class Semaphore {
  readonly capacity: number
  readonly #permitsOfOne: number
  /** What lets those in that wait, by key, in the order of whose turn is next. */
  readonly #lines = new Map<string, (() => void)[]>()
  readonly #heldBy = new Map<string, number>()
  #held = 0

  /** One key never holds more than `permitsOfOne`: clients that take their time cannot have all of them. */
  constructor(capacity: number, permitsOfOne = capacity) {
    this.capacity = capacity
    this.#permitsOfOne = permitsOfOne
  }

  /** How many permits are held, and how many requests wait for one. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#held, waiting: [...this.#lines.values()].flat().length }
  }

  /**
   * Takes so many permits now, or answers undefined where they are not free. What asks for more than there are gets them while nobody
   * else holds any: it would never get them otherwise.
   */
  tryAcquire(permits = 1): Release | undefined {
    return this.#held === 0 || this.#held + permits <= this.capacity ? this.#hold('', permits) : undefined
  }

  /** Takes a permit once it is its turn; undefined where too many of the key wait already. Rejects with the signal's reason. */
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

  /** Those whose turn it is, while there are permits for them. */
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
