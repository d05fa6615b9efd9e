import type { Interval, Operation, Read, Refused, Unsure, Write } from './operation.ts'
import { Unavailable } from './rest.ts'

/** What an operation came to, without its times. */
export type Outcome =
  | Omit<Write, keyof Interval>
  | Omit<Refused, keyof Interval>
  | Omit<Unsure, keyof Interval>
  | Omit<Read, keyof Interval>

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

  /**
   * Does `work` and writes down what it came to: nothing, or something in each of several registers. Answers what `work` does. Where that
   * throws Unavailable, it may have made a version with the token in each of the registers named.
   */
  async record<T>(
    client: string,
    work: () => Promise<{ readonly answer: T; readonly outcomes: Readonly<Record<string, Outcome>> }>,
    { token = '', registers = [] }: { readonly token?: string; readonly registers?: readonly string[] } = {},
  ): Promise<T> {
    const start = performance.now()
    try {
      const { answer, outcomes } = await work()
      const times = { client, start, end: performance.now() }
      for (const [register, outcome] of Object.entries(outcomes))
        this.#note(register, { ...outcome, ...times })
      return answer
    } catch (error) {
      const times = { client, start, end: performance.now() }
      if (error instanceof Unavailable)
        for (const register of registers) this.#note(register, { kind: 'unsure', token, ...times })
      throw error
    }
  }

  #note(register: string, operation: Operation): void {
    const operations = this.#operations.get(register) ?? []
    this.#operations.set(register, operations)
    operations.push(operation)
  }
}
