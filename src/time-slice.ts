import { setImmediate as otherRequests } from 'node:timers/promises'

/** How long work goes on before others have their turn, in milliseconds. */
const SLICE_MS = 8

/** A look at the clock costs as much as a short step, so there is one for so many. */
const STEPS = 64

/**
 * The time that long work takes at a stretch: between two slices of it other requests have their turn, and work that nobody waits
 * for any more ends. Each piece of work has one of its own.
 */
export class TimeSlice {
  readonly #stop: AbortSignal | undefined
  #end = performance.now() + SLICE_MS

  /** Once `stop` comes, the work ends with its reason when it rests next. */
  constructor(stop?: AbortSignal) {
    this.#stop = stop
  }

  /** Whether it is time for `rest`. */
  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  /** Lets others have their turn, and begins the next slice. Throws the reason of `stop` if that has come. */
  async rest(): Promise<void> {
    await otherRequests()
    this.#stop?.throwIfAborted()
    this.#end = performance.now() + SLICE_MS
  }

  /** Takes one step for each item, in order, as many slices as that takes; a step that answers a promise is waited for. */
  async each<T>(items: Iterable<T>, step: (item: T, index: number) => unknown): Promise<void> {
    let index = 0
    for (const item of items) {
      const pending = step(item, index)
      if (pending instanceof Promise) await pending
      if (++index % STEPS === 0 && this.isOver) await this.rest()
    }
    if (this.isOver) await this.rest()
  }
}
