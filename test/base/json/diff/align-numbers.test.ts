import { expect } from 'chai'
import { diffArrays } from 'diff'
import * as fc from 'fast-check'
import type { Difference } from '../../../../src/base/diff/align-numbers.ts'
import {
  AlignmentSteps,
  alignMiddles,
  alignNumbers,
  middleOf,
} from '../../../../src/base/diff/align-numbers.ts'
import { atOnce } from '../../../../src/base/scheduling/cooperative.ts'

describe('json: aligned lists', () => {
  const MANY = 1_000_000_000
  /** What the package `diff` finds. */
  const byPackage = (base: number[], head: number[], maxEdits: number): Difference[] | undefined => {
    const changes = diffArrays(base, head, { maxEditLength: maxEdits })
    const found: Difference[] = []
    let [from, to, removed, added] = [0, 0, 0, 0]
    for (const change of [...(changes ?? []), { count: 0, removed: false, added: false }]) {
      if (change.removed) removed += change.count
      else if (change.added) added += change.count
      else {
        if (removed + added > 0) found.push({ from, removed, to, added })
        from += removed + change.count
        to += added + change.count
        removed = added = 0
      }
    }
    return changes && found
  }
  const pairs = fc.integer({ min: 0, max: 6 }).chain((most) => {
    const list = fc.array(fc.integer({ min: 0, max: most }), { maxLength: 14 })
    return fc.tuple(list, list)
  })

  it('are what the package of that name finds, of several shortest ways the same', () => {
    fc.assert(
      fc.property(pairs, fc.constantFrom(0, 1, 3, 7, 1000), ([base, head], maxEdits) => {
        const found = atOnce(alignNumbers(base, head, maxEdits, new AlignmentSteps(MANY)))
        expect(found).to.deep.equal(byPackage(base, head, maxEdits))
      }),
      { numRuns: 3000 },
    )
  })

  it('are lists of which one becomes the other, whichever way they were aligned', () => {
    const applied = (base: readonly number[], head: readonly number[], found: readonly Difference[]) =>
      found.reduceRight(
        (list, { from, removed, to, added }) => list.toSpliced(from, removed, ...head.slice(to, to + added)),
        base,
      )
    fc.assert(
      fc.property(pairs, ([base, head]) => {
        const found = atOnce(alignMiddles(base, head, 1000, new AlignmentSteps(MANY)))
        expect(applied(base, head, found ?? [])).to.deep.equal(head)
        expect(applied(base, head, [middleOf(base, head)])).to.deep.equal(head)
      }),
      { numRuns: 1000 },
    )
  })

  it('take no more steps than are left, and yield every few thousand', () => {
    const numbers = (from: number): number[] => Array.from({ length: 5000 }, (_, at) => from + at)
    const steps = new AlignmentSteps(1_000_000)
    const work = alignNumbers(numbers(0), numbers(10_000), 10_000, steps)
    let yields = 0
    let result = work.next()
    for (; !result.done; result = work.next()) yields++
    expect(result.value).to.equal(undefined)
    expect(steps.left).to.be.within(-10_000, -1)
    expect(yields).to.be.within(150, 250)
    // Along what is alike each item counts, too.
    const alike = new AlignmentSteps(1000)
    expect(atOnce(alignNumbers([1, ...numbers(0)], [2, 1, ...numbers(0), 3], 10, alike))).to.equal(undefined)
    expect(atOnce(alignNumbers(numbers(0), numbers(0), 10, alike))).to.deep.equal([])
  })
})
