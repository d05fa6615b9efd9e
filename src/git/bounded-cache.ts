/** Keeps the values used last, as many as fit a total weight (bytes, or simply how many). */
export class BoundedCache<V> {
  readonly #limit: number
  readonly #weigh: (value: V) => number
  readonly #dispose: (value: V) => void
  readonly #values = new Map<string, V>()
  #weight = 0

  /** `dispose` is told of every value that leaves, whatever the reason. */
  constructor(limit: number, weigh: (value: V) => number, dispose: (value: V) => void = () => {}) {
    this.#limit = limit
    this.#weigh = weigh
    this.#dispose = dispose
  }

  /** The value, which counts as used now. */
  get(key: string): V | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  /** The value, without counting as a use: for looking through many that probably do not help. */
  peek(key: string): V | undefined {
    return this.#values.get(key)
  }

  /** Keeps the value and drops those unused longest until the rest fits; a value over the limit is not kept at all. */
  set(key: string, value: V): void {
    this.delete(key)
    const weight = this.#weigh(value)
    if (weight > this.#limit) return this.#dispose(value)
    this.#values.set(key, value)
    this.#weight += weight
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#limit) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#weight -= this.#weigh(value)
    this.#dispose(value)
  }

  clear(): void {
    for (const key of [...this.#values.keys()]) this.delete(key)
  }
}
