/** From this length on, frequent characters of the second text cannot start a block (interface 11.8). */
const LONG_TEXT = 200

/**
 * Ratcliff and Obershelp's measure as in difflib (interface 11.8): twice the length of the matching blocks,
 * divided by the length of both texts; 1 for two empty ones. Takes code points. It is not symmetric.
 * Undefined after more than `mostSteps`, each one compared pair of characters: two texts of n characters may
 * need n³.
 */
export function sequenceSimilarity(a: Int32Array, b: Int32Array, mostSteps: number): number | undefined {
  if (a.length + b.length === 0) return 1
  const blocks = new Blocks(a, b, mostSteps)
  const matched = blocks.total()
  return matched === undefined ? undefined : (2 * matched) / (a.length + b.length)
}

/** Ranges of both texts; ends are exclusive. */
type Parts = readonly [aStart: number, aEnd: number, bStart: number, bEnd: number]

class Blocks {
  readonly #a: Int32Array
  readonly #b: Int32Array
  /** The ascending positions in `b` of each character that can start a block. */
  readonly #places: ReadonlyMap<number, readonly number[]>
  #stepsLeft: number
  /**
   * The length of the common text that ends at each position of `b`, for two consecutive characters of `a`; 0
   * outside a search.
   */
  #lengths: Int32Array
  #newLengths: Int32Array

  constructor(a: Int32Array, b: Int32Array, mostSteps: number) {
    this.#a = a
    this.#b = b
    this.#places = placesOf(b)
    this.#stepsLeft = mostSteps
    this.#lengths = new Int32Array(b.length + 1)
    this.#newLengths = new Int32Array(b.length + 1)
  }

  /** The total length of all matching blocks. */
  total(): number | undefined {
    let total = 0
    const open: Parts[] = [[0, this.#a.length, 0, this.#b.length]]
    for (let parts = open.pop(); parts !== undefined; parts = open.pop()) {
      const [aStart, aEnd, bStart, bEnd] = parts
      const [aBlock, bBlock, size] = this.#longest(parts)
      if (this.#stepsLeft < 0) return undefined
      if (size === 0) continue
      total += size
      if (aStart < aBlock && bStart < bBlock) open.push([aStart, aBlock, bStart, bBlock])
      if (aBlock + size < aEnd && bBlock + size < bEnd) open.push([aBlock + size, aEnd, bBlock + size, bEnd])
    }
    return total
  }

  /**
   * The longest block in the ranges: earliest in `a`, then earliest in `b`, then extended as far as possible.
   */
  #longest(parts: Parts): [aBlock: number, bBlock: number, size: number] {
    const [aStart, aEnd, bStart, bEnd] = parts
    let [aBlock, bBlock, size] = this.#longestOfStarters(parts)
    const [a, b] = [this.#a, this.#b]
    while (aBlock > aStart && bBlock > bStart && a[aBlock - 1] === b[bBlock - 1]) {
      aBlock--
      bBlock--
      size++
    }
    while (aBlock + size < aEnd && bBlock + size < bEnd && a[aBlock + size] === b[bBlock + size]) size++
    return [aBlock, bBlock, size]
  }

  #longestOfStarters([aStart, aEnd, bStart, bEnd]: Parts): [aBlock: number, bBlock: number, size: number] {
    let [aBlock, bBlock, size] = [aStart, bStart, 0]
    let before = { places: NOWHERE, first: 0, end: 0 }
    for (let i = aStart; i < aEnd && this.#stepsLeft >= 0; i++) {
      const [lengths, newLengths] = [this.#lengths, this.#newLengths]
      const places = this.#places.get(this.#a[i] ?? 0) ?? NOWHERE
      const first = firstFrom(places, bStart)
      let end = first
      for (; end < places.length; end++) {
        const j = places[end] ?? 0
        if (j >= bEnd) break
        const length = (lengths[j] ?? 0) + 1
        newLengths[j + 1] = length
        if (length > size) [aBlock, bBlock, size] = [i - length + 1, j - length + 1, length]
      }
      forget(lengths, before)
      this.#stepsLeft -= 1 + end - first
      before = { places, first, end }
      this.#lengths = newLengths
      this.#newLengths = lengths
    }
    forget(this.#lengths, before)
    return [aBlock, bBlock, size]
  }
}

const NOWHERE: readonly number[] = []

function forget(
  lengths: Int32Array,
  { places, first, end }: { places: readonly number[]; first: number; end: number },
): void {
  for (let at = first; at < end; at++) lengths[(places[at] ?? 0) + 1] = 0
}

function placesOf(b: Int32Array): Map<number, number[]> {
  const places = new Map<number, number[]>()
  for (const [at, point] of b.entries()) {
    const known = places.get(point)
    if (known) known.push(at)
    else places.set(point, [at])
  }
  if (b.length < LONG_TEXT) return places
  const most = Math.floor(b.length / 100) + 1
  for (const [point, where] of places) if (where.length > most) places.delete(point)
  return places
}

/** The index of the first position that is not before `start`. */
function firstFrom(places: readonly number[], start: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((places[middle] ?? 0) < start) low = middle + 1
    else high = middle
  }
  return low
}
