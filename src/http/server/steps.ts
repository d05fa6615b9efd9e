import { setTimeout as pause } from 'node:timers/promises'

/** The steps of a stop. A step that fails or takes too long does not prevent the others. */
export class Steps {
  readonly #limitMs: number
  #end: number | undefined
  readonly #open = new Set<string>()
  readonly #failed = new Map<string, string>()

  /** All steps share this time from the first one on; each may take half of the rest. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The names of the steps that have not ended or have failed. */
  get kept(): readonly string[] {
    return [...this.#open, ...[...this.#failed].map(([name, why]) => `${name} (${why})`)]
  }

  /** Runs a step; resolves when it ends or its time is over, leaving it running. */
  async take(name: string, step: () => unknown): Promise<void> {
    this.#open.add(name)
    this.#end ??= performance.now() + this.#limitMs
    const over = new AbortController()
    const taken = Promise.resolve()
      .then(step)
      .then(
        () => void this.#open.delete(name),
        (error: unknown) => {
          this.#open.delete(name)
          this.#failed.set(name, error instanceof Error ? error.message : String(error))
        },
      )
    const late = pause((this.#end - performance.now()) / 2, undefined, { signal: over.signal }).catch(
      () => undefined,
    )
    await Promise.race([taken, late])
    over.abort()
  }
}
