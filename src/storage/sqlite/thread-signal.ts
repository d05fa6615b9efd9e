import { workerData } from 'node:worker_threads'

/** Signals between a thread and its owner while the thread works: two numbers in shared memory. */
export class ThreadSignal {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory)
  }

  /** Whether the thread should end as soon as possible. */
  get isEnding(): boolean {
    return Atomics.load(this.#numbers, ENDING) === 1
  }

  /** Whether the thread is in a match, which cannot be interrupted except by ending the thread. */
  get isMatching(): boolean {
    return Atomics.load(this.#numbers, MATCHING) === 1
  }

  askToEnd(): void {
    Atomics.store(this.#numbers, ENDING, 1)
  }

  /** Runs a match, whose regular expression may backtrack endlessly. */
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

/** The signal of this thread. */
export const ownSignal = new ThreadSignal(workerData instanceof SharedArrayBuffer ? workerData : undefined)
