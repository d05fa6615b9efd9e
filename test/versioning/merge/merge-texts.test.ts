import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { gitBytes } from '../../../scripts/proofs/support/git-program.ts'
import { samples } from '../../samples.ts'
import { mergeTexts } from '../../../src/versioning/merge/merge-texts.ts'

const RUNS = samples(60)

const linesOf = (letters: readonly string[]): string => letters.map((it) => `${it}\n`).join('')

/** Replaces, removes and inserts lines. */
const edits = (alphabet: string): fc.Arbitrary<(lines: readonly string[]) => readonly string[]> =>
  fc
    .array(
      fc.record({
        at: fc.nat({ max: 12 }),
        removed: fc.nat({ max: 2 }),
        added: fc.array(fc.constantFrom(...alphabet), { maxLength: 2 }),
      }),
      { maxLength: 3 },
    )
    .map(
      (list) => (lines) =>
        list.reduce<readonly string[]>(
          (it, { at, removed, added }) => it.toSpliced(at % (it.length + 1), removed, ...added),
          lines,
        ),
    )

describe('texts merged by line and word', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'branchpoint-texts-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** What git merge-file makes of it; undefined where it finds a conflict. */
  const byGit = (base: string, target: string, source: string): string | undefined => {
    const names = Object.entries({ target, base, source }).map(([name, text]) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    })
    try {
      return gitBytes(folder, ['merge-file', '-p', '-q', ...names]).toString()
    } catch {
      return undefined
    }
  }
  const merged = (base: string, target: string, source: string, unit: 'words' | 'lines' = 'lines') => {
    const result = mergeTexts({ base, target, source }, unit)
    return 'text' in result ? result.text : undefined
  }

  const distinct = Array.from({ length: 12 }, (_, at) => `line ${at}`)

  it('are what git merge-file makes of them, and conflicts where it finds one', () => {
    const count = { same: 0, conflicts: 0 }
    fc.assert(
      fc.property(edits('xyz'), edits('uvw'), (mine, theirs) => {
        const texts = [distinct, mine(distinct), theirs(distinct)].map(linesOf)
        const [base = '', target = '', source = ''] = texts
        const expected = byGit(base, target, source)
        expect(merged(base, target, source)).to.equal(expected)
        count[expected === undefined ? 'conflicts' : 'same']++
      }),
      { numRuns: RUNS },
    )
    expect(count.same).to.be.above(RUNS / 8)
    expect(count.conflicts).to.be.above(RUNS / 8)
  })

  it('of lines that repeat are what git has, or a conflict', () => {
    const repeated = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 8 })
    let differs = 0
    fc.assert(
      fc.property(repeated, edits('ab'), edits('ab'), (lines, mine, theirs) => {
        const [base = '', target = '', source = ''] = [lines, mine(lines), theirs(lines)].map(linesOf)
        const [ours, expected] = [merged(base, target, source), byGit(base, target, source)]
        if (ours !== undefined && expected !== undefined && ours !== expected) differs++
      }),
      { numRuns: RUNS },
    )
    // Which of equal lines went is anybody's guess, and git's is one of several.
    expect(differs).to.be.below(RUNS / 12)
  })

  it('by word are no more often in conflict, and the same where lines were not', () => {
    fc.assert(
      fc.property(edits('xyz'), edits('uvw'), (mine, theirs) => {
        const [base = '', target = '', source = ''] = [distinct, mine(distinct), theirs(distinct)].map(
          linesOf,
        )
        const byLine = merged(base, target, source)
        if (byLine !== undefined) expect(merged(base, target, source, 'words')).to.equal(byLine)
      }),
      { numRuns: 200 },
    )
  })

  it('are the same the other way round', () => {
    fc.assert(
      fc.property(edits('xyz'), edits('uvw'), fc.constantFrom('words', 'lines'), (mine, theirs, unit) => {
        const [base = '', target = '', source = ''] = [distinct, mine(distinct), theirs(distinct)].map(
          linesOf,
        )
        expect(merged(base, source, target, unit)).to.equal(merged(base, target, source, unit))
      }),
      { numRuns: 200 },
    )
  })

  it('take in both of two edits that do not touch', () => {
    fc.assert(
      fc.property(fc.nat({ max: 4 }), fc.integer({ min: 6, max: 11 }), (first, second) => {
        const one = distinct.with(first, 'mine')
        const other = distinct.with(second, 'theirs')
        expect(merged(linesOf(distinct), linesOf(one), linesOf(other))).to.equal(
          linesOf(one.with(second, 'theirs')),
        )
      }),
    )
  })

  it('that have nothing in common are a conflict soon, however long they are', () => {
    const long = (word: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${word} ${at}\n`).join('')
    expect(mergeTexts({ base: long('a'), target: long('b'), source: long('c') }, 'words')).to.have.property(
      'marked',
    )
  })

  it('keep a last line without a line feed as it is', () => {
    expect(merged('a\nb\nc', 'A\nb\nc', 'a\nb\nC')).to.equal('A\nb\nC')
    expect(merged('', 'a', 'a')).to.equal('a')
  })
})
