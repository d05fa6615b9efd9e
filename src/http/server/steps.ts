import { setTimeout as pause } from 'node:timers/promises'

/** The steps of a stop: one that takes too long, or fails, keeps none of the others. */
export class Steps {
  readonly #limitMs: number
  #end: number | undefined
  readonly #open = new Set<string>()
  readonly #failed = new Map<string, string>()

  /** From the first step on, all of them have so long; each may take half of what is left. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** What has not ended, or could not: each by its name. */
  get kept(): readonly string[] {
    return [...this.#open, ...[...this.#failed].map(([name, why]) => `${name} (${why})`)]
  }

  /** Takes a step; resolves once it is over, or its time is. It is left behind then. */
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
