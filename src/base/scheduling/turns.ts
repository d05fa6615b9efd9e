/** Runs jobs with the same name one after the other, in order; jobs with other names do not wait for them. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs the job after the earlier ones ended, even if they failed. */
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
