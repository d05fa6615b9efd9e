import { expect } from 'chai'
import { setImmediate } from 'node:timers/promises'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { searchPattern as searchPatternFor } from '../../../../src/run/handlers/worker/search-pattern.ts'
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
    // interface 11.9
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
  // interface 11.9
  it('stops what goes on for too long, more of them than there are threads; others go on meanwhile', async () => {
    let running = bombs.length
    const searches = bombs.map((bomb) =>
      failureOf(() => searchPattern(bomb, true, `${MANY}!`)).finally(() => running--),
    )
    let turns = 0
    while (running > 0) {
      expect(await searchPattern('a!', true, `${MANY}!`)).to.equal(true)
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
})

async function failureOf(search: () => boolean | Promise<boolean>): Promise<HandlerFailure> {
  try {
    await search()
  } catch (error) {
    if (error instanceof HandlerFailure) return error
    throw error
  }
  throw new Error('it did not fail')
}
