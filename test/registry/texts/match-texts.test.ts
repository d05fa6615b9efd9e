import { expect } from 'chai'
import * as fc from 'fast-check'
import { atOnce } from '../../../src/base/scheduling/cooperative.ts'
import { matchTexts } from '../../../src/registry/texts/match-texts.ts'
import type { PlacedText } from '../../../src/registry/texts/placed-text.ts'

const placed = (texts: readonly string[]): PlacedText[] =>
  texts.map((text, at) => ({
    keys: [at],
    pointer: `/${at}`,
    message: { array: '', role: at % 2 === 0 ? 'user' : 'assistant' },
    text,
  }))

/** By pairs of places, as the rule says it: pair by pair, the best first. */
function byRule(texts: readonly PlacedText[], before: readonly PlacedText[]): [number, number][] {
  const found = new Map<number, number>()
  const taken = new Set<number>()
  const match = (rankOf: (one: PlacedText, other: PlacedText) => number | undefined): void => {
    const pairs = texts.flatMap((one, at) =>
      before.flatMap((other, was) => {
        const rank = rankOf(one, other)
        return rank === undefined ? [] : [{ at, was, rank, distance: Math.abs(at - was) }]
      }),
    )
    pairs.sort((a, b) => a.rank - b.rank || a.distance - b.distance || a.at - b.at)
    for (const { at, was } of pairs) {
      if (found.has(at) || taken.has(was)) continue
      found.set(at, was)
      taken.add(was)
    }
  }
  match((one, other) => (one.pointer === other.pointer && one.text === other.text ? 0 : undefined))
  match((one, other) => (one.text === other.text ? 0 : undefined))
  match((one, other) => {
    const [lines, others] = [one.text.split('\n'), other.text.split('\n')]
    let common = 0
    for (const line of lines) {
      const at = others.indexOf(line)
      if (at < 0) continue
      others.splice(at, 1)
      common++
    }
    const share = common / Math.max(lines.length, other.text.split('\n').length)
    return share < 0.5 ? undefined : -share
  })
  for (const [at, one] of texts.entries()) {
    if (found.has(at)) continue
    const was = before.findIndex(
      (other, index) => !taken.has(index) && other.message?.role === one.message?.role,
    )
    if (was < 0) continue
    found.set(at, was)
    taken.add(was)
  }
  return [...found].sort(([a], [b]) => a - b)
}

describe('which text a text goes on from', () => {
  const turnsOf = (texts: readonly PlacedText[], before: readonly PlacedText[]) => {
    const work = matchTexts(texts, before)
    let turns = 0
    let result = work.next()
    for (; !result.done; result = work.next()) turns++
    return { turns, found: result.value }
  }

  it('is by the rule: the same words, then most lines in common, then the place', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 })
    const texts = fc.array(
      text.map((lines) => lines.join('\n')),
      { maxLength: 7 },
    )
    fc.assert(
      fc.property(texts, texts, (now, then) => {
        const [after, before] = [placed(now), placed(then)]
        const found = atOnce(matchTexts(after, before))
        const places = [...found].map(([one, other]) => [after.indexOf(one), before.indexOf(other)])
        expect(places.sort(([a = 0], [b = 0]) => a - b)).to.deep.equal(byRule(after, before))
      }),
      { numRuns: 1000 },
    )
  })

  it('is told of 256 messages of 190 lines in turns', () => {
    const messages = (side: string): PlacedText[] =>
      placed(
        Array.from({ length: 256 }, (_, at) =>
          Array.from({ length: 190 }, (_, line) => (line === 7 ? `${side} ${at}` : `line ${line}`)).join(
            '\n',
          ),
        ),
      )
    const { turns, found } = turnsOf(messages('now'), messages('before'))
    expect(turns).to.be.at.least(256)
    expect(found.size).to.equal(256)
    for (const [text, earlier] of found) expect(text.pointer).to.equal(earlier.pointer)
  })

  it('of one text that was edited is the one of its place, whatever it says now', () => {
    const [same, was] = ['one', 'two\nlines']
    for (const now of ['two\nwords', 'other', same]) {
      const [after, before] = [placed([same, now]), placed([same, was])]
      expect([...atOnce(matchTexts(after, before)).values()]).to.deep.equal(before)
    }
  })

  it('is told of very many equal texts in work that has a bound', () => {
    // Each of 300 texts 200 times, all of them moved.
    const texts = Array.from({ length: 60_000 }, (_, at) => `text ${at % 300}`)
    const { turns, found } = turnsOf(placed(texts), placed(texts.toReversed()))
    expect(found.size).to.equal(60_000)
    for (const [text, earlier] of found) if (text.text !== earlier.text) throw new Error('another text')
    expect(turns).to.be.at.least(300)
  })
})
