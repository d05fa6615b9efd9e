import { expect } from 'chai'
import fc from 'fast-check'
import { codePoints } from '../../../../src/run/handlers/metrics/code-points.ts'
import {
  levenshteinDistance,
  levenshteinSteps,
} from '../../../../src/run/handlers/metrics/levenshtein-distance.ts'

describe('handlers: Levenshtein distance', () => {
  const distance = (a: string, b: string): number => levenshteinDistance(codePoints(a), codePoints(b))

  it('is that of the textbook', () => {
    const table: readonly [string, string, number][] = [
      ['kitten', 'sitting', 3],
      ['', '', 0],
      ['', 'abc', 3],
      ['abc', '', 3],
      ['flaw', 'lawn', 2],
      ['a'.repeat(100), 'b'.repeat(70), 100],
      ['naïve 😀', 'naive 😃', 2],
      ['😀', 'ab', 2],
    ]
    for (const [a, b, expected] of table) expect(distance(a, b), `${a} ${b}`).to.equal(expected)
  })

  it('is the same as a whole table says, over several blocks of rows', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 120, size: 'max' }),
      fc.string({ unit: fc.constantFrom('a', 'é', '😀', '中', '😃'), maxLength: 120, size: 'max' }),
    )
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(distance(a, b)).to.equal(byTable([...a], [...b]))
      }),
      { numRuns: 300 },
    )
  })

  it('what the texts begin and end with alike costs nothing', () => {
    const much = 'x'.repeat(50_000)
    const [a, b] = [codePoints(`${much}one${much}`), codePoints(`${much}two${much}`)]
    expect(levenshteinSteps(a, b)).to.be.lessThan(10)
    expect(levenshteinDistance(a, b)).to.equal(3)
  })
})

function byTable(a: readonly string[], b: readonly string[]): number {
  let row = [0, ...b.map((_, index) => index + 1)]
  for (const [i, x] of a.entries()) {
    const next = [i + 1]
    for (const [j, y] of b.entries()) {
      const [above = 0, diagonal = 0, before = 0] = [row[j + 1], row[j], next[j]]
      next.push(Math.min(above + 1, before + 1, diagonal + Number(x !== y)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
