import { workerData } from 'node:worker_threads'

/** What a thread and who started it tell each other while the thread is at work: two numbers in memory that both see. */
export class ThreadSignal {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory)
  }

  /** Whether the thread is to end as soon as it can. */
  get isEnding(): boolean {
    return Atomics.load(this.#numbers, ENDING) === 1
  }

  /** Whether the thread is in the midst of a match, which nothing but its own end would end. */
  get isMatching(): boolean {
    return Atomics.load(this.#numbers, MATCHING) === 1
  }

  askToEnd(): void {
    Atomics.store(this.#numbers, ENDING, 1)
  }

  /** Does a match, which may be a regular expression that goes back for ever. */
  match(matches: () => boolean): boolean {
    Atomics.store(this.#numbers, MATCHING, 1)
    try {
      return matches()
    } finally {
      Atomics.store(this.#numbers, MATCHING, 0)
    }
  }
}

const ENDING = 0
const MATCHING = 1

/** The one of this thread. */
export const ownSignal = new ThreadSignal(workerData instanceof SharedArrayBuffer ? workerData : undefined)
