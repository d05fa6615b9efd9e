import type { InSlices } from '../scheduling/cooperative.ts'

/** A difference of two lists: the items from `from` on were replaced by those from `to` on. */
export interface Difference {
  readonly from: number
  readonly removed: number
  readonly to: number
  readonly added: number
}

/**
 * The remaining steps of alignment for some work, over all its texts and lists. A step compares two items, and takes about 20 nanoseconds.
 * An alignment that needs more steps ends, and its lists count as too different.
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
 * The differences of two lists in order, with as few removed and added items as possible. Undefined if there are more than `maxEdits`, or
 * the remaining steps do not suffice. Time and memory grow at most with the square of the edits.  This is Myers's algorithm as in the
 * package `diff` (of several shortest results it finds the same). Unlike the package it counts its steps, so that the work of many
 * alignments together is bounded, and it yields.
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
  /** The farthest way on each diagonal (the index in `base` minus that in `head`), with an offset. */
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
  // The search ends at the end of either list.
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

/** The same without searching the common beginning and end: for long lists with few differences. */
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

/** Two lists without their common beginning and end, as one difference. */
export function middleOf(base: readonly number[], head: readonly number[]): Difference {
  const shorter = Math.min(base.length, head.length)
  let start = 0
  while (start < shorter && base[start] === head[start]) start++
  let end = 0
  while (end < shorter - start && base[base.length - 1 - end] === head[head.length - 1 - end]) end++
  return { from: start, removed: base.length - start - end, to: start, added: head.length - start - end }
}

const NONE = -1

/** Ways through two lists: each extends another one by a removed or added item, then along common items. */
class Ways {
  #count = 0
  #ends = new Int32Array(1024)
  /** Twice the number of the extended way, plus one if it removes an item. */
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

  /** Its end in the first list. */
  endOf(way: number): number {
    return this.#ends[way] ?? 0
  }

  /** The removals and additions on a way that ends on this diagonal; those between two common runs form one difference, in any order. */
  differencesOn(way: number, diagonal: number): Difference[] {
    const found: Difference[] = []
    let [at, on] = [way, diagonal]
    /** The end of the next difference in both lists. */
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
