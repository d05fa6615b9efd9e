import { expect } from 'chai'
import fc from 'fast-check'
import { setImmediate } from 'node:timers/promises'
import { HandlerFailure } from '../../../src/handlers/handler-failure.ts'
import { compilePattern } from '../../../src/handlers/worker/compile-pattern.ts'
import { patternSteps } from '../../../src/handlers/worker/pattern-steps.ts'
import { searchPattern as searchPatternFor } from '../../../src/handlers/worker/search-pattern.ts'
import { handlerContext } from '../handler-context.ts'

const searchPattern = (pattern: string, isCaseSensitive: boolean, text: string) =>
  searchPatternFor(pattern, isCaseSensitive, text, handlerContext())
const MANY = 'a'.repeat(50)

describe('handlers: regular expressions', () => {
  const table: readonly [pattern: string, text: string, found: boolean, why: string][] = [
    ['b', 'abc', true, 'a search is not anchored'],
    ['^b', 'abc', false, 'unless it says so'],
    ['^b', 'a\nb', false, 'the start of a line is not the start'],
    ['(?m)^b', 'a\nb', true, 'unless it says so'],
    ['a.b', 'a\nb', false, 'a dot is no new line'],
    ['(?s)a.b', 'a\nb', true, 'unless it says so'],
    ['B', 'abc', false, 'case counts'],
    ['(?i)B', 'abc', true, 'unless the pattern says it does not'],
    ['(?ims)^A.C$', 'x\na\nc', true, 'flags together'],
    ['a$', 'a\n', false, 'the end is the end, as JavaScript has it'],
    ['^.{2}$', '😀😀', true, 'a dot is a whole character'],
    ['^\\p{Lu}', 'Éa', true, 'properties of characters'],
    ['a\\-b', 'a-b', true, 'an escape that only the older mode takes'],
    ['(?<year>\\d{4})-\\k<year>', 'x 2024-2024', true, 'a named group'],
    ['(a)\\1', 'aa', true, 'a reference back'],
    ['(?=.*A)(?=.*B).*', 'xBxA', true, 'looking ahead'],
    ['(?<=\\$)\\d+', '$5', true, 'looking behind'],
    ['', '', true, 'nothing is everywhere'],
    ['[^]', '\n', true, 'any character at all'],
  ]
  for (const [pattern, text, found, why] of table) {
    it(`${why}: /${pattern}/`, async () => {
      expect(await searchPattern(pattern, true, text)).to.equal(found)
    })
  }

  it('case does not count where it is told so, and inline flags may say the same', async () => {
    expect(await searchPattern('STRASSE É', false, 'strasse é')).to.equal(true)
    expect(await searchPattern('(?i)A\\S', false, 'a ')).to.equal(false)
  })

  for (const pattern of ['(', '[', 'a**', '(?P<x>a)', '(?x)a', '\\', 'a(?i)b', `${'('.repeat(2000)}`]) {
    it(`refuses ${pattern.slice(0, 20)}, quoting it`, async () => {
      const failure = await failureOf(() => searchPattern(pattern, true, 'text'))
      expect(failure.id).to.equal('v0:workflows:regex-pattern-error')
      expect(failure.message).to.contain(pattern.slice(0, 200))
    })
  }

  // None that a later V8 sees through: it knows that (?=(a+)+$)b matches nothing.
  const bombs = ['(a+)+$', '(a|a)*$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(?=(a+)+$)a']
  it('stops what goes on for too long, more of them than there are threads; others go on meanwhile', async () => {
    let running = bombs.length
    const searches = bombs.map((bomb) =>
      failureOf(() => searchPattern(bomb, true, `${MANY}!`)).finally(() => running--),
    )
    let turns = 0
    while (running > 0) {
      expect(await searchPattern('^a+!$', true, `${MANY}!`)).to.equal(true)
      await setImmediate()
      turns++
    }
    for (const failure of await Promise.all(searches)) {
      expect(failure.id).to.equal('v0:workflows:regex-pattern-error')
      expect(failure.message).to.contain('1000 ms')
    }
    expect(turns).to.be.greaterThan(100)
    expect(await searchPattern('(x+x+)+y', true, `${'x'.repeat(100)}y`)).to.equal(true)
  })

  it('a search that needs too much memory is refused', async () => {
    const failure = await failureOf(() => searchPattern('(?:a|b)*c', true, 'ab'.repeat(8_000_000)))
    expect(failure.id).to.equal('v0:workflows:regex-pattern-error')
    // Where the machine is slow its time is over first; `long-jobs.test.ts` gives it more.
    expect(failure.message).to.match(/more memory than it may|more than 1000 ms/)
  })

  it('a long pattern and a long text are searched aside, with the same result', async () => {
    expect(await searchPattern('x'.repeat(5000), true, `y${'x'.repeat(5000)}`)).to.equal(true)
    expect(await searchPattern('(?i)B.*c', true, `${'a'.repeat(1_000_000)}bc`)).to.equal(true)
    expect(await searchPattern('d', true, 'abc'.repeat(1_000_000))).to.equal(false)
  })

  describe('how many steps a search takes at most', () => {
    const steps = (pattern: string, characters: number): number =>
      patternSteps(compilePattern(pattern, true), characters)

    it('few for what is plain, more with each repetition, more than can be counted for one inside another', () => {
      expect(steps('^PREFIX', 1000)).to.be.lessThan(20_000)
      expect(steps('SUFFIX$', 1000)).to.be.lessThan(20_000)
      expect(steps('[a-z]+', 1000)).to.be.within(1000 ** 2, 10 * 1000 ** 2)
      expect(steps('a*b*', 1000)).to.be.within(1000 ** 3, 10 * 1000 ** 3)
      expect(steps('(?=.*A)(?=.*B).*', 1000)).to.be.within(1000 ** 2, 10 * 1000 ** 2)
      expect(steps('(a|b){3}', 10)).to.be.within(11 * 8, 11 * 100)
      for (const bomb of bombs) expect(steps(bomb, 1000), bomb).to.be.greaterThan(1e100)
      expect(steps('(?:(a+)+){0}', 1000)).to.be.greaterThan(0)
    })

    it('is not deceived by brackets in classes, escapes, names and braces that are no repetition', () => {
      const plain = steps('aaaa', 1000)
      for (const pattern of [
        '[(*+]a',
        '\\(\\*a',
        '\\p{L}a',
        'a\\{',
        '(?<name>a)',
        '[\\]*]a',
        '(?<!a)b',
        '[^]a',
        'a{b',
      ]) {
        expect(steps(pattern, 1000), pattern).to.be.lessThan(2 * plain)
      }
      for (const pattern of ['[a]*[]*]a*', '(?<n>a*)*', '\\**(a*b*)', '\\p*\\p*', '😀*b*']) {
        expect(steps(pattern, 1000), pattern).to.be.greaterThan(1000 ** 3)
      }
    })

    it('a search that has few steps comes to an end', () => {
      fc.assert(
        fc.property(arbitraryPattern, fc.integer({ min: 0, max: 400 }), (pattern, length) => {
          const text = 'ab'.repeat(length)
          const regExp = compilePattern(pattern, true)
          if (patternSteps(regExp, text.length + 1) <= 1_000_000) regExp.test(`${text}!`)
        }),
        { numRuns: 2000 },
      )
    })
  })
})

const arbitraryPattern = fc
  .letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('a', 'b', '.', '[ab]', '\\w', '$', '^', '\\b', ''),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}', '{2,}'))
        .map(([a, times]) => `(${a})${times}`),
      tie('pattern').map((a) => `(?=${a})`),
      tie('pattern').map((a) => `(?<!${a})`),
      tie('pattern').map((a) => `(?:(${a})\\1)`),
    ),
  }))
  .pattern.filter((pattern) => isPattern(pattern))

function isPattern(pattern: string): boolean {
  try {
    compilePattern(pattern, true)
    return true
  } catch {
    return false
  }
}

async function failureOf(search: () => boolean | Promise<boolean>): Promise<HandlerFailure> {
  try {
    await search()
  } catch (error) {
    if (error instanceof HandlerFailure) return error
    throw error
  }
  throw new Error('it did not fail')
}
