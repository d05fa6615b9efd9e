import type { InSlices } from '../scheduling/cooperative.ts'

/** One place where two lists differ: so many items from `from` on gave way to so many from `to` on. */
export interface Difference {
  readonly from: number
  readonly removed: number
  readonly to: number
  readonly added: number
}

/**
 * How many steps of alignment some work may still take, all its texts and lists together; a step is a comparison of two items, and takes
 * some 20 nanoseconds. What finds too little left ends, and is told as too different.
 */
export class AlignmentSteps {
  left: number

  constructor(steps: number) {
    this.left = steps
  }
}

/** Steps of an alignment before it looks whether it is time to yield. */
const STEPS_BETWEEN_YIELDS = 5000

/**
 * The places where two lists differ, in order, with as few items removed and added as can be; undefined if these are more than `maxEdits`,
 * or if finding them takes more than the steps that are left. Time and memory grow with the square of the edits at most.
 *
 * This is Myers's algorithm as the package `diff` has it (of several shortest ways it finds the same). Unlike the package it counts its
 * steps, so that the work of many alignments together has a bound, and yields.
 */
export function* alignNumbers(
  base: readonly number[],
  head: readonly number[],
  maxEdits: number,
  steps: AlignmentSteps,
): InSlices<Difference[] | undefined> {
  const [ofBase, ofHead] = [base.length, head.length]
  const most = Math.min(maxEdits, ofBase + ofHead)
  const ways = new Ways()
  /** The way that goes farthest on each diagonal (a place in `base` less one in `head`), with an offset. */
  const farthest = new Int32Array(2 * most + 3).fill(NONE)
  const offset = most + 1
  const commonFrom = (from: number, diagonal: number): number => {
    let at = from
    while (at < ofBase && at - diagonal < ofHead && base[at] === head[at - diagonal]) at++
    return at
  }
  const begun = commonFrom(0, 0)
  if (begun === ofBase && begun === ofHead) return []
  farthest[offset] = ways.put(begun, NONE, false)
  // Past the end of either list there is nothing to look for.
  let [lowest, highest] = [-most, most]
  let sinceYield = 0
  for (let edits = 1; edits <= most; edits++) {
    for (let diagonal = Math.max(lowest, -edits); diagonal <= Math.min(highest, edits); diagonal += 2) {
      const removing = farthest[offset + diagonal - 1] ?? NONE
      const adding = farthest[offset + diagonal + 1] ?? NONE
      farthest[offset + diagonal - 1] = NONE
      const added = ways.endOf(adding) - diagonal - 1
      const canAdd = adding !== NONE && added >= 0 && added < ofHead
      const canRemove = removing !== NONE && ways.endOf(removing) < ofBase
      if (!canAdd && !canRemove) {
        farthest[offset + diagonal] = NONE
        continue
      }
      const doesRemove = canRemove && !(canAdd && ways.endOf(removing) < ways.endOf(adding))
      const before = doesRemove ? removing : adding
      const start = ways.endOf(before) + (doesRemove ? 1 : 0)
      const end = commonFrom(start, diagonal)
      const way = ways.put(end, before, doesRemove)
      if (end === ofBase && end - diagonal === ofHead) return ways.differencesOn(way, diagonal)
      farthest[offset + diagonal] = way
      if (end === ofBase) highest = Math.min(highest, diagonal - 1)
      if (end - diagonal === ofHead) lowest = Math.max(lowest, diagonal + 1)
      const taken = 1 + end - start
      steps.left -= taken
      if (steps.left < 0) return undefined
      sinceYield += taken
      if (sinceYield < STEPS_BETWEEN_YIELDS) continue
      sinceYield = 0
      yield
    }
  }
  return undefined
}

/** The same, where what the lists begin and end with alike is left out of the search: for long lists of which little differs. */
export function* alignMiddles(
  base: readonly number[],
  head: readonly number[],
  maxEdits: number,
  steps: AlignmentSteps,
): InSlices<Difference[] | undefined> {
  const middle = middleOf(base, head)
  const { from, removed, added } = middle
  if (removed + added === 0) return []
  if (removed === 0 || added === 0) return [middle]
  const [old, now] = [base.slice(from, from + removed), head.slice(from, from + added)]
  const found = yield* alignNumbers(old, now, maxEdits, steps)
  return found?.map((it) => ({ ...it, from: from + it.from, to: from + it.to }))
}

/** What is left of two lists without what they begin and end with alike: the difference of those that nothing more is told of. */
export function middleOf(base: readonly number[], head: readonly number[]): Difference {
  const shorter = Math.min(base.length, head.length)
  let start = 0
  while (start < shorter && base[start] === head[start]) start++
  let end = 0
  while (end < shorter - start && base[base.length - 1 - end] === head[head.length - 1 - end]) end++
  return { from: start, removed: base.length - start - end, to: start, added: head.length - start - end }
}

const NONE = -1

/** Ways through two lists: each goes on from another one by an item removed or added, and then along what is common. */
class Ways {
  #count = 0
  #ends = new Int32Array(1024)
  /** Twice the way that it goes on from, and one more where it removes an item. */
  #before = new Int32Array(1024)

  put(end: number, before: number, doesRemove: boolean): number {
    if (this.#count === this.#ends.length) {
      this.#ends = doubled(this.#ends)
      this.#before = doubled(this.#before)
    }
    this.#ends[this.#count] = end
    this.#before[this.#count] = 2 * before + (doesRemove ? 1 : 0)
    return this.#count++
  }

  /** Where in the first list it ends. */
  endOf(way: number): number {
    return this.#ends[way] ?? 0
  }

  /** What is removed and added on a way that ends on this diagonal; between two common runs that is one difference, in whatever order. */
  differencesOn(way: number, diagonal: number): Difference[] {
    const found: Difference[] = []
    let [at, on] = [way, diagonal]
    /** Where the difference that is told next ends in both lists. */
    let [to, toHead] = [this.endOf(at), this.endOf(at) - on]
    const begins = (from: number): void => {
      const [removed, added] = [to - from, toHead - (from - on)]
      if (removed + added > 0) found.push({ from, removed, to: from - on, added })
    }
    while (at !== NONE) {
      const [end, step] = [this.endOf(at), this.#before[at] ?? 0]
      const [before, doesRemove] = [step >> 1, (step & 1) === 1]
      const start = before === NONE ? 0 : this.endOf(before) + (doesRemove ? 1 : 0)
      if (end > start) {
        begins(end)
        ;[to, toHead] = [start, start - on]
      }
      if (before !== NONE) on += doesRemove ? -1 : 1
      at = before
    }
    begins(0)
    return found.reverse()
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * numbers.length)
  more.set(numbers)
  return more
}
