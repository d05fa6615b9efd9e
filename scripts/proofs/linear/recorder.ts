import type { Operation, Read, Refused, Unsure, Write } from './operation.ts'

/** What an operation came to, without its times. */
export type Outcome =
  Omit<Write, keyof Times> | Omit<Refused, keyof Times> | Omit<Unsure, keyof Times> | Omit<Read, keyof Times>

interface Times {
  readonly start: number
  readonly end: number
  readonly client: string
}

/** Writes down what the clients of this process do, by one clock, register by register. */
export class Recorder {
  readonly #operations = new Map<string, Operation[]>()

  /** What was done to a register, in the order of the answers. */
  of(register: string): readonly Operation[] {
    return this.#operations.get(register) ?? []
  }

  /** How many operations are written down. */
  get count(): number {
    return [...this.#operations.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** Does `work` and writes down what it came to: nothing, or something in each of several registers. Answers what `work` does. */
  async record<T>(
    client: string,
    work: () => Promise<{ readonly answer: T; readonly outcomes: Readonly<Record<string, Outcome>> }>,
  ): Promise<T> {
    const start = performance.now()
    const { answer, outcomes } = await work()
    const times = { client, start, end: performance.now() }
    for (const [register, outcome] of Object.entries(outcomes)) {
      const operations = this.#operations.get(register) ?? []
      this.#operations.set(register, operations)
      operations.push({ ...outcome, ...times })
    }
    return answer
  }
}
