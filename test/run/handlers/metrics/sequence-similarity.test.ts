import { expect } from 'chai'
import fc from 'fast-check'
import { codePoints } from '../../../../src/run/handlers/metrics/code-points.ts'
import { sequenceSimilarity } from '../../../../src/run/handlers/metrics/sequence-similarity.ts'

describe('handlers: similarity of sequences', () => {
  const similarity = (a: string, b: string, mostSteps = 1e8): number | undefined =>
    sequenceSimilarity(codePoints(a), codePoints(b), mostSteps)

  /** What Python's difflib answers. */
  const letters = String.fromCodePoint(...Array.from({ length: 150 }, (_, index) => 0x4e00 + index))
  const table: readonly [a: string, b: string, ratio: number][] = [
    ['Paros', 'Paris', 0.8],
    ['bcde', 'abcd', 0.75],
    ['tide', 'diet', 0.25],
    ['diet', 'tide', 0.5],
    ['', 'x', 0],
    ['', '', 1],
    ['café', 'cafe', 0.75],
    ['😀a😀', '😀b😀', 0.6666666666666666],
    [
      'the quick brown fox jumps over the lazy dog',
      'a quick brown dog jumps over the lazy fox',
      0.8571428571428571,
    ],
    ['private Thread currentThread;', 'private volatile Thread currentThread;', 0.8656716417910447],
    // at 200 characters the frequent ones start no block any more, but may go on with one
    [`${'ab'.repeat(99)}x`, `${'ab'.repeat(99)}y`, 0.9949748743718593],
    ['ab'.repeat(100), 'ab'.repeat(100), 1],
    [`${'ab'.repeat(100)}x`, `${'ba'.repeat(100)}x`, 0.004975124378109453],
    [`${'ab'.repeat(100)}x`, `y${'ab'.repeat(100)}x`, 0.9975186104218362],
    [`x${'ab'.repeat(100)}`, `y${'ab'.repeat(100)}`, 0],
    [
      letters + [...letters].reverse().join(''),
      `${letters.slice(75)}${letters.slice(0, 75)}${'-'.repeat(60)}`,
      0.29411764705882354,
    ],
    ['x', `${letters}${letters.slice(0, 47)}xxx`, 2 / 201],
    ['x', `${letters}${letters.slice(0, 46)}xxxx`, 0],
    ['-'.repeat(60) + letters, letters + '-'.repeat(60), 0.7142857142857143],
  ]
  for (const [a, b, ratio] of table) {
    it(`${a.slice(0, 20)} (${a.length}) and ${b.slice(0, 20)} (${b.length})`, () => {
      expect(similarity(a, b)).to.equal(ratio)
    })
  }

  it('is the same as a search for every block says', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 40 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [[...a], [...b]]
        const total = x.length + y.length
        expect(similarity(a, b)).to.equal(total === 0 ? 1 : (2 * matched(x, y)) / total)
      }),
      { numRuns: 300 },
    )
  })

  it('gives up after so many steps', () => {
    expect(similarity('ab'.repeat(90), 'ba'.repeat(90), 1000)).to.equal(undefined)
    expect(similarity('ab'.repeat(90), 'ba'.repeat(90), 100_000)).to.be.a('number')
  })
})

/** What the definition says, for texts of fewer than 200 characters. */
function matched(a: readonly string[], b: readonly string[]): number {
  let [from, to, size] = [0, 0, 0]
  for (const i of a.keys()) {
    for (const j of b.keys()) {
      let length = 0
      while (i + length < a.length && j + length < b.length && a[i + length] === b[j + length]) length++
      if (length > size) [from, to, size] = [i, j, length]
    }
  }
  if (size === 0) return 0
  return size + matched(a.slice(0, from), b.slice(0, to)) + matched(a.slice(from + size), b.slice(to + size))
}
