/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 up to, and never, 1. */
  next(): number
  /** A whole number from 0 up to, and never, `below`. */
  below(below: number): number
  /** True in so many of 1 cases. */
  chance(share: number): boolean
  /** One of the items; undefined if there is none. */
  pick<T>(items: readonly T[]): T | undefined
}

/** The generator "mulberry32": one 32-bit state, which is enough for choices. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, chance: (share) => next() < share, pick: (items) => items[below(items.length)] }
}
