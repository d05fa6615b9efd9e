import { diffArrays, type ChangeObject } from 'diff'
import type { TimeSlice } from '../../scheduling/cooperative.ts'

/** One place where two lists differ: so many items from `from` on gave way to so many from `to` on. */
export interface Difference {
  readonly from: number
  readonly removed: number
  readonly to: number
  readonly added: number
}

/**
 * The places where two lists differ, in order; undefined if there are more than `maxEdits` items removed and added. Time and memory
 * grow with the square of that.
 */
export function alignNumbers(
  base: readonly number[],
  head: readonly number[],
  maxEdits: number,
): Difference[] | undefined {
  const changes = diffArrays([...base], [...head], { maxEditLength: maxEdits })
  return changes && differencesOf(changes, 0)
}

/** The same of long lists, in slices. What they begin and end with alike is left out of the search. */
export async function alignManyNumbers(
  base: readonly number[],
  head: readonly number[],
  maxEdits: number,
  slice: TimeSlice,
): Promise<Difference[] | undefined> {
  const shorter = Math.min(base.length, head.length)
  let start = 0
  while (start < shorter && base[start] === head[start]) {
    if (++start % STEP === 0 && slice.isOver) await slice.rest()
  }
  let end = 0
  while (end < shorter - start && base[base.length - 1 - end] === head[head.length - 1 - end]) {
    if (++end % STEP === 0 && slice.isOver) await slice.rest()
  }
  const [removed, added] = [base.slice(start, base.length - end), head.slice(start, head.length - end)]
  if (removed.length === 0 || added.length === 0) {
    const one = { from: start, removed: removed.length, to: start, added: added.length }
    return removed.length + added.length === 0 ? [] : [one]
  }
  if (removed.length + added.length <= FEW) {
    const changes = diffArrays(removed, added, { maxEditLength: maxEdits })
    return changes && differencesOf(changes, start)
  }
  // it takes a turn of its own for each edit more that it looks for
  const changes = await new Promise<ChangeObject<number[]>[] | undefined>((resolve) => {
    diffArrays(removed, added, { maxEditLength: maxEdits, callback: resolve })
  })
  return changes && differencesOf(changes, start)
}

const STEP = 10_000

/** So few items are aligned in some milliseconds, however little they have in common. */
const FEW = 1000

/** What lies between two common runs is one difference, in whatever order it was found. */
function differencesOf(changes: readonly ChangeObject<number[]>[], start: number): Difference[] {
  const differences: Difference[] = []
  let [from, to, removed, added] = [start, start, 0, 0]
  const close = (common: number): void => {
    if (removed + added > 0) differences.push({ from, removed, to, added })
    from += removed + common
    to += added + common
    removed = added = 0
  }
  for (const change of changes) {
    if (change.removed) removed += change.count
    else if (change.added) added += change.count
    else close(change.count)
  }
  close(0)
  return differences
}
