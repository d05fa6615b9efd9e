export interface BoundedCacheOptions<V> {
  /** Is told of every value that leaves, whatever the reason. */
  readonly dispose?: (value: V) => void
  /** What nobody used for so many milliseconds goes, at the latest after twice as many, when something else comes. Without it, it may stay. */
  readonly unusedFor?: number
  /** Milliseconds from any moment on. */
  readonly now?: () => number
}

/**
 * For caches of what can be had again: what nobody asked for in two to four minutes makes room, so that they are soon as large under steady
 * load as they ever are, and a server that is left alone gets small again.
 */
export const AGEING = { unusedFor: 2 * 60 * 1000 } as const satisfies BoundedCacheOptions<unknown>

/**
 * Keeps what was used lately, up to a total weight (bytes, or simply how many). Values live in two generations: what is
 * used moves to the young one; once that weighs half the limit, or is old enough, it becomes the old one, and what was still old
 * goes. So a hit costs one look-up, where a strict order of use costs a removal and an insertion.
 */
export class BoundedCache<K, V> {
  readonly #half: number
  readonly #weigh: (value: V) => number
  readonly #dispose: (value: V) => void
  readonly #unusedFor: number
  readonly #now: () => number
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  #youngWeight = 0
  /** When the young generation began. */
  #began: number

  constructor(
    limit: number,
    weigh: (value: V) => number,
    { dispose = () => {}, unusedFor = Infinity, now = () => performance.now() }: BoundedCacheOptions<V> = {},
  ) {
    this.#half = limit / 2
    this.#weigh = weigh
    this.#dispose = dispose
    this.#unusedFor = unusedFor
    this.#now = now
    this.#began = now()
  }

  /** The value, which counts as used now. */
  get(key: K): V | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.#insert(key, old)
    return old
  }

  /** The value, without counting as a use: for looking through many that probably do not help. */
  peek(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  /** Keeps the value in place of what the key held; one heavier than half the limit is not kept. */
  set(key: K, value: V): void {
    this.delete(key)
    if (this.#weigh(value) > this.#half) this.#dispose(value)
    else this.#insert(key, value)
  }

  delete(key: K): void {
    const young = this.#young.get(key)
    const value = young ?? this.#old.get(key)
    if (value === undefined) return
    if (young !== undefined) this.#youngWeight -= this.#weigh(young)
    this.#young.delete(key)
    this.#old.delete(key)
    this.#dispose(value)
  }

  /** Every key of which a value is kept, in no order. */
  keys(): K[] {
    return [...this.#young.keys(), ...this.#old.keys()]
  }

  clear(): void {
    for (const key of this.keys()) this.delete(key)
  }

  #insert(key: K, value: V): void {
    const weight = this.#weigh(value)
    const now = this.#now()
    if (this.#youngWeight + weight > this.#half || now - this.#began >= this.#unusedFor) this.#age(now)
    this.#young.set(key, value)
    this.#youngWeight += weight
  }

  #age(now: number): void {
    const leaving = this.#old
    this.#old = this.#young
    this.#young = new Map()
    this.#youngWeight = 0
    this.#began = now
    for (const gone of leaving.values()) this.#dispose(gone)
  }
}
