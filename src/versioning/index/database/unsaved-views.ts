/**
 * Artifacts whose rows were written without a view for the next start, because they had been written to just before. Each is tried once
 * more when that is over.
 */
export class UnsavedViews {
  readonly #after: number
  readonly #again: (paths: Iterable<string>) => void
  readonly #waiting = new Set<string>()
  readonly #tried = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  /** `again` is told of them `after` so many milliseconds. */
  constructor(after: number, again: (paths: Iterable<string>) => void) {
    this.#after = after
    this.#again = again
  }

  /** Notes whether an artifact was written with its view. */
  note(path: string, isSaved: boolean): void {
    const wasTried = this.#tried.delete(path)
    if (isSaved || wasTried) return void this.#waiting.delete(path)
    this.#waiting.add(path)
    this.#timer ??= setTimeout(() => this.tryNow(), this.#after).unref()
  }

  /** Has those that wait tried now. */
  tryNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const path of this.#waiting) this.#tried.add(path)
    this.#again(this.#waiting)
    this.#waiting.clear()
  }
}
