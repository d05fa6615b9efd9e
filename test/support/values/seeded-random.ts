/** Repeatable randomness: the same seed gives the same draws, on every machine and in every version of Node. */
export interface SeededRandom {
  /** A whole number from 0 to before `end`, which is at most 2^32. */
  below(end: number): number
  /** True once in `odds` draws. */
  once(odds: number): boolean
  /** One of them. Throws a RangeError if there is none. */
  pick<T>(choices: readonly T[]): T
}

/** Draws that depend on `seed` only; seeds are told apart by their low 32 bits. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const draw = (): number => {
    // an odd step runs through all 2^32 states, and mixing their bits hides that they are a sequence
    state = (state + 0x9e3779b9) >>> 0
    let bits = state
    bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
    return (bits ^ (bits >>> 15)) >>> 0
  }
  const below = (end: number): number => Math.floor((draw() / 0x1_0000_0000) * end)
  return {
    below,
    once: (odds) => below(odds) === 0,
    pick: (choices) => {
      const index = below(choices.length)
      if (index >= choices.length) throw new RangeError('there is nothing to pick from')
      // the index was just held against the length
      return choices[index] as (typeof choices)[number]
    },
  }
}
