/** What clients saw between two samples. */
export interface Interval {
  readonly requests: number
  /** Milliseconds until the whole answer was there, for half of the requests; undefined if there was none. */
  readonly p50: number | undefined
  /** The same for 99 of 100. */
  readonly p99: number | undefined
  /** Answers that nobody expected, and failures, as sentences. */
  readonly problems: readonly string[]
}

/** Counts requests from one sample to the next. */
export class IntervalTally {
  #times: number[] = []
  #problems: string[] = []

  /** A request was answered after so many milliseconds. */
  answered(took: number): void {
    this.#times.push(took)
  }

  /** Something happened that should not. */
  went(wrong: string): void {
    this.#problems.push(wrong)
  }

  /** What there was since this was last asked. */
  take(): Interval {
    const sorted = this.#times.sort((a, b) => a - b)
    const at = (part: number): number | undefined => sorted[Math.ceil(part * sorted.length) - 1]
    const problems = this.#problems
    this.#times = []
    this.#problems = []
    return { requests: sorted.length, p50: at(0.5), p99: at(0.99), problems }
  }
}
