import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { gitBytes } from '../../support/git/git-program.ts'
import { samples } from '../../support/samples.ts'
import { atOnce } from '../../../src/base/scheduling/cooperative.ts'
import { mergeTexts } from '../../../src/registry/merge/merge-texts.ts'
import type { Sides } from '../../../src/registry/merge/merging.ts'
import { MergeEffort } from '../../../src/registry/merge/merging.ts'

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
    const result = atOnce(mergeTexts({ base, target, source }, unit, new MergeEffort()))
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
    const work = mergeTexts(
      { base: long('a'), target: long('b'), source: long('c') },
      'words',
      new MergeEffort(),
    )
    expect(atOnce(work)).to.have.property('marked')
  })

  it('keep a last line without a line feed as it is', () => {
    expect(merged('a\nb\nc', 'A\nb\nc', 'a\nb\nC')).to.equal('A\nb\nC')
    expect(merged('', 'a', 'a')).to.equal('a')
  })

  describe('that differ much', () => {
    const words = (count: number, word: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => word(at)).join(' ')
    /** Each line has a word in the middle that is as it was, and all others are not. */
    const page = (lines: number, side: string): string =>
      linesOf(
        Array.from({ length: lines }, (_, at) =>
          at % 2 === 0 ? `line ${at}` : `${words(30, (it) => `${side}${at}.${it}`)} kept ${at}`,
        ),
      )
    const pages = (lines: number): Sides<string> => ({
      base: page(lines, 'base'),
      target: page(lines, 'target'),
      source: page(lines, 'source'),
    })

    it('take no more than the effort of their merge, all together', () => {
      const effort = new MergeEffort()
      const { lines, words: left } = effort
      const [ofLines, ofWords] = [lines.left, left.left]
      let turns = 0
      for (let text = 0; text < 40; text++) {
        const work = mergeTexts(pages(400), 'words', effort)
        for (let step = work.next(); ; step = work.next()) {
          if (step.done) {
            expect(step.value).to.have.property('marked')
            break
          }
          turns++
        }
      }
      // What is spent is spent to the last step, and no step further than one run along what is alike.
      expect(ofWords - left.left).to.be.within(ofWords - 300_000, ofWords + 100_000)
      expect(ofLines - lines.left).to.be.at.most(ofLines + 100_000)
      // They yield all the time.
      expect(turns).to.be.above((ofWords + ofLines - lines.left) / 20_000)
    })

    it('are merged by lines when words are spent, and are in conflict as a whole when lines are', () => {
      const [base, target, source] = [
        ['one', 'as it was', 'two words here', 'three', 'four', 'five'],
        ['one', 'as it was', 'two words HERE', 'three', 'four', 'FIVE'],
        ['ONE', 'as it was', 'TWO words here', 'three', 'four', 'five'],
      ].map((lines) => linesOf(lines))
      const texts = { base: base ?? '', target: target ?? '', source: source ?? '' }
      const effort = new MergeEffort()
      expect(atOnce(mergeTexts(texts, 'words', effort))).to.deep.equal({
        text: linesOf(['ONE', 'as it was', 'TWO words HERE', 'three', 'four', 'FIVE']),
      })
      effort.words.left = 0
      const byLines = atOnce(mergeTexts(texts, 'words', effort))
      expect('marked' in byLines && byLines.marked).to.match(
        /^ONE\nas it was\n<<<<<<< target\ntwo words HERE\n\|{7} base\ntwo words here\n=======\nTWO words here\n>>>>>>> source\nthree\nfour\nFIVE\n$/,
      )
      effort.lines.left = 0
      const whole = atOnce(mergeTexts(texts, 'words', effort))
      expect('marked' in whole && whole.marked).to.match(/^<<<<<<< target\none\n/)
    })
  })
})
