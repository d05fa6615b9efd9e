/** So many maps, a power of two: of a million entries each has a few thousand. */
const MAPS = 256

/**
 * A Map by texts that grows a little at a time: where one Map of a million entries doubles, nothing else happens for a tenth of a
 * second. Which map an entry is in is up to the last four characters of its key. The entries have no order.
 */
export class SpreadMap<V> {
  readonly #maps: (Map<string, V> | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  has(key: string): boolean {
    return this.#maps[placeOf(key)]?.has(key) === true
  }

  get(key: string): V | undefined {
    return this.#maps[placeOf(key)]?.get(key)
  }

  set(key: string, value: V): void {
    const map = (this.#maps[placeOf(key)] ??= new Map<string, V>())
    const before = map.size
    map.set(key, value)
    this.#size += map.size - before
  }

  delete(key: string): void {
    if (this.#maps[placeOf(key)]?.delete(key)) this.#size--
  }
}

function placeOf(key: string): number {
  let sum = 0
  for (let at = Math.max(0, key.length - 4); at < key.length; at++) sum = sum * 31 + key.charCodeAt(at)
  return sum % MAPS
}
