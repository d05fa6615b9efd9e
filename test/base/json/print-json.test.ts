import { expect } from 'chai'
import fc from 'fast-check'
import { isLight } from '../../../src/base/json/is-light.ts'
import { ExactNumber, ExactObject, type Json } from '../../../src/base/json/json.ts'
import { MOST_MEMBERS, parseInTurns, parseJson } from '../../../src/base/json/parse-json.ts'
import { printHeavy, printJson } from '../../../src/base/json/print-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { restsDuring } from '../../support/rests.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'

/** Heavy values of different shapes, as a body of a megabyte may hold them. */
const HEAVY: Readonly<Record<string, string>> = {
  objects: `[${'{},'.repeat(300_000)}{}]`,
  numbers: `[${'1.0,'.repeat(200_000)}1]`,
  nests: `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(1000)}[]]`,
  keys: `{${Array.from({ length: 60_000 }, (_, index) => `"key ${index}":1`).join()}}`,
  'integer-like keys': `{${Array.from({ length: 60_000 }, (_, index) => `"${index}":null`).join()}}`,
  texts: `[${'"some text of a row",'.repeat(40_000)}""]`,
}

describe('json: large values', () => {
  for (const [what, text] of Object.entries(HEAVY)) {
    it(`reads and prints ${what} in turns, as it would at once`, async () => {
      let value: Json = null
      const rests = await restsDuring(async () => (value = await parseInTurns(text, {})))
      expect(rests, 'rests while reading').to.be.at.least(10)
      expect(stringifyJson(value) === stringifyJson(parseJson(text))).to.equal(true)
      let bytes: Buffer | undefined
      const printing = await restsDuring(
        async () => (bytes = await printHeavy(value, { indent: 2, ending: '\n' })),
      )
      expect(printing, 'rests while printing').to.be.at.least(10)
      expect(bytes?.toString() === `${stringifyJson(value, 2)}\n`).to.equal(true)
      expect((await printJson(value)).toString() === text).to.equal(true)
    })
  }

  it('prints any value as it would at once', () =>
    fc.assert(
      fc.asyncProperty(arbitraryJson, fc.constantFrom(undefined, 2 as const), async (value, indent) => {
        // as a member of something heavy, and by itself
        const heavy = [value, 'x'.repeat(300_000), 'é😀"'.repeat(100_000), { value }]
        for (const each of [heavy, value]) {
          expect((await printHeavy(each, { indent }))?.toString()).to.equal(stringifyJson(each, indent))
        }
      }),
      { numRuns: 30 },
    ))

  it('reads any text in turns as it would at once', () =>
    fc.assert(
      fc.asyncProperty(arbitraryJson, async (value) => {
        const text = `[${stringifyJson(value, 2)},"${'x'.repeat(100_000)}",${stringifyJson(value)}]`
        expect(await parseInTurns(text, {})).to.deep.equal(parseJson(text))
      }),
      { numRuns: 30 },
    ))

  it('gives up printing once there is more text than was asked for', async () => {
    const value = parseJson(`[${'[],'.repeat(100_000)}1]`)
    expect(await printHeavy(value, { maxBytes: 300_003 })).to.have.length(300_003)
    expect(await printHeavy(value, { maxBytes: 300_002 })).to.equal(undefined)
    expect(await restsDuring(() => printHeavy(value, { indent: 2, maxBytes: 1000 }))).to.be.at.most(2)
  })

  it('ends with the reason of its signal', async () => {
    const text = `[${'{},'.repeat(300_000)}{}]`
    const gone = AbortSignal.abort(new Error('gone'))
    const outcomes = await Promise.allSettled([
      restsDuring(async () => parseInTurns(text, {}, gone)),
      restsDuring(() => printHeavy(parseJson(text), { stop: gone })),
    ])
    expect(outcomes.map((it) => it.status === 'rejected' && String(it.reason))).to.deep.equal(
      Array(2).fill('Error: gone'),
    )
  })

  it('looks at a part of a value only to tell that it is heavy', () => {
    expect(
      isLight({ a: [1, 'x', new ExactNumber('1.0'), new ExactObject([['1', null]]), undefined] }),
    ).to.equal(true)
    for (const heavy of [
      Array(3000).fill(1),
      'x'.repeat(300_000),
      { ['k'.repeat(300_000)]: 1 },
      [[Array(3000).fill([])]],
    ])
      expect(isLight(heavy)).to.equal(false)
    const trap = new Proxy([], { get: (_, name) => (name === 'length' ? 5000 : expect.fail(String(name))) })
    expect(isLight([trap])).to.equal(false)
  })

  it('counts values while it reads, and stops at the first that is too many', () => {
    const most = { maxValues: 5 }
    expect(parseJson('[1,{"a":2},[]]', most)).to.deep.equal([1, { a: 2 }, []])
    expect(() => parseJson('[1,{"a":2},[], 3, oops', most)).to.throw(
      'line 1, column 16 (in 3): There are more than 5',
    )
    expect(() => parseJson('[1,{"a":2},[3', most)).to.throw('(in 2.0): There are more than 5 values')
  })

  it('bounds the members of one object where it bounds values, and nowhere else', () => {
    const object = (members: number): string =>
      `[0,{${Array.from({ length: members }, (_, member) => `"k${member}":0`).join(',')}}]`
    const bounded = { maxValues: 10 * MOST_MEMBERS }
    expect(parseJson(object(MOST_MEMBERS), bounded)).to.have.length(2)
    expect(() => parseJson(object(MOST_MEMBERS + 1), bounded)).to.throw(
      '(in 1.k50000): An object has more than 50000',
    )
    expect(parseJson(object(MOST_MEMBERS + 1))).to.have.length(2)
  })

  it('cuts long keys short where an error names them', () => {
    const key = 'k'.repeat(1_000_000)
    for (const text of [`{"${key}":1,"${key}":2}`, `{"${key}":[oops`])
      expect(() => parseJson(text))
        .to.throw(Error)
        .with.property('message')
        .with.length.below(1000)
  })

  it('finds the one bad escape of a long text', () => {
    const text = `"${'\\\\\\u00e9\\n'.repeat(1000)}\\x"`
    expect(() => parseJson(text)).to.throw(`column ${text.length - 2}:`)
  })
})
