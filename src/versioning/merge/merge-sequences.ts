import type { AlignmentSteps, Difference } from '../../json/diff/align-numbers.ts'
import { alignNumbers } from '../../json/diff/align-numbers.ts'
import type { InSlices } from '../../scheduling/cooperative.ts'
import type { Sides } from './merging.ts'

/** A run of the three lists: from where to before where it goes in each, and who changed it. */
export interface MergedRun extends Sides<readonly [from: number, to: number]> {
  readonly changed: 'nobody' | 'target' | 'source' | 'alike' | 'differently'
}

/** More items removed and added than these are not looked for in a list: memory grows with the square. */
const MOST_EDITS = 2000

/**
 * What two sides made of a list, run by run (diff3): what only one of them changed, both alike, or both differently. Changes that touch
 * are taken together, as git does. Undefined if a side has too little in common with the base to tell in the steps that are left.
 */
export function* mergeSequences(
  { base, target, source }: Sides<readonly number[]>,
  steps: AlignmentSteps,
): InSlices<readonly MergedRun[] | undefined> {
  const ofTarget = yield* changesOf(base, target, steps)
  const ofSource = ofTarget && (yield* changesOf(base, source, steps))
  if (!ofTarget || !ofSource) return undefined
  const changes = { target: ofTarget, source: ofSource }
  const runs: MergedRun[] = []
  const next = { target: 0, source: 0 }
  const at = { base: 0, target: 0, source: 0 }
  const take = (end: Sides<number>, changed: MergedRun['changed']): void => {
    if (end.base > at.base || changed !== 'nobody') {
      runs.push({
        base: [at.base, end.base],
        target: [at.target, end.target],
        source: [at.source, end.source],
        changed,
      })
    }
    Object.assign(at, end)
  }
  for (;;) {
    const [ours, theirs] = [changes.target[next.target], changes.source[next.source]]
    if (!ours && !theirs) break
    const start = Math.min(ours?.from ?? Infinity, theirs?.from ?? Infinity)
    const skipped = start - at.base
    take({ base: start, target: at.target + skipped, source: at.source + skipped }, 'nobody')
    // As many changes of either side as touch.
    let end = start
    const grown = { target: 0, source: 0 }
    const by = { target: false, source: false }
    for (let isGrowing = true; isGrowing;) {
      isGrowing = false
      for (const side of ['target', 'source'] as const) {
        const change = changes[side][next[side]]
        if (!change || change.from > end) continue
        end = Math.max(end, change.from + change.removed)
        grown[side] += change.added - change.removed
        by[side] = isGrowing = true
        next[side]++
      }
    }
    const length = end - start
    const ends = {
      base: end,
      target: at.target + length + grown.target,
      source: at.source + length + grown.source,
    }
    if (!by.source) take(ends, 'target')
    else if (!by.target) take(ends, 'source')
    else {
      const [mine, other] = [target.slice(at.target, ends.target), source.slice(at.source, ends.source)]
      const isAlike = mine.length === other.length && mine.every((item, index) => item === other[index])
      take(ends, isAlike ? 'alike' : 'differently')
    }
  }
  const rest = base.length - at.base
  take({ base: base.length, target: at.target + rest, source: at.source + rest }, 'nobody')
  return runs
}

/** The differences, each as far down as it can stand: among equal lines it is one choice of many, and this is git's. */
function* changesOf(
  base: readonly number[],
  head: readonly number[],
  steps: AlignmentSteps,
): InSlices<readonly Difference[] | undefined> {
  const differences = yield* alignNumbers(base, head, MOST_EDITS, steps)
  return differences?.map((difference, index) => {
    const limit = differences[index + 1]?.from ?? base.length
    let { from, to } = difference
    const { removed, added } = difference
    const slides = (): boolean =>
      from + removed < limit &&
      ((added === 0 && base[from] === base[from + removed]) ||
        (removed === 0 && head[to] === head[to + added]))
    while (removed + added > 0 && slides()) {
      from++
      to++
    }
    return { from, removed, to, added }
  })
}
