/** Jobs of one name take turns, in the order in which they came; those of other names pass them by. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does the job once those before it are over, however they ended. */
  take<T>(name: string, job: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(job)
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(name) === over) this.#last.delete(name)
      })
    this.#last.set(name, over)
    return turn
  }
}
