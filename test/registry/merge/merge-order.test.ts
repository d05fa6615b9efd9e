import { expect } from 'chai'
import * as fc from 'fast-check'
import { atOnce } from '../../../src/base/scheduling/cooperative.ts'
import { mergeOrder } from '../../../src/registry/merge/merge-order.ts'

describe('the order of things that both sides moved, added and removed', () => {
  const ids = 'abcdefgh'.split('')
  const changed = (prefix: string): fc.Arbitrary<readonly string[]> =>
    fc
      .tuple(
        fc.shuffledSubarray(ids, { minLength: 4 }),
        fc.boolean(),
        fc.array(fc.nat({ max: 8 }), { maxLength: 3 }),
      )
      .map(([some, isMoved, places]) =>
        places.reduce<readonly string[]>(
          (list, at, index) => list.toSpliced(at % (list.length + 1), 0, `${prefix}${index}`),
          isMoved ? some : ids.filter((id) => some.includes(id)),
        ),
      )

  it('has everything that is left once, and nothing else', () => {
    fc.assert(
      fc.property(
        changed('t'),
        changed('s'),
        fc.constantFrom('target', 'source', 'base'),
        (target, source, take) => {
          const isLeft = (id: string): boolean =>
            !ids.includes(id) || (target.includes(id) && source.includes(id))
          const { order } = atOnce(mergeOrder({ base: ids, target, source }, isLeft, take))
          const all = [...new Set([...target, ...source])].filter(isLeft)
          expect(order).to.have.members(all).and.to.have.length(all.length)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is the side’s that alone changed it', () => {
    fc.assert(
      fc.property(changed('x'), (side) => {
        const isLeft = (id: string): boolean => side.includes(id)
        expect(atOnce(mergeOrder({ base: ids, target: side, source: ids }, isLeft))).to.deep.equal({
          order: side,
          isContested: false,
        })
        const taken = atOnce(mergeOrder({ base: ids, target: ids, source: side }, isLeft))
        expect(taken.isContested).to.equal(false)
        expect(taken.order).to.have.members(side)
      }),
      { numRuns: 300 },
    )
  })

  it('is contested the same from both sides', () => {
    fc.assert(
      fc.property(changed('t'), changed('s'), (target, source) => {
        const there = atOnce(mergeOrder({ base: ids, target, source }, () => true))
        const back = atOnce(mergeOrder({ base: ids, target: source, source: target }, () => true))
        expect(back.isContested).to.equal(there.isContested)
      }),
      { numRuns: 300 },
    )
  })

  it('puts what the source added behind its neighbour, and behind what the target put there', () => {
    const order = (base: string, target: string, source: string): string =>
      atOnce(
        mergeOrder({ base: [...base], target: [...target], source: [...source] }, () => true),
      ).order.join('')
    expect(order('abc', 'abc', 'aXbYc')).to.equal('aXbYc')
    expect(order('abc', 'a1bc', 'aXbc')).to.equal('a1Xbc')
    expect(order('abc', '1abc2', 'XabcY')).to.equal('1XabcY'.replace('cY', 'c2Y'))
    expect(order('abcd', 'abcd', 'bcda')).to.equal('bcda')
    expect(order('', 'ab', 'cd')).to.equal('abcd')
  })

  it('gives way between its passes over the lists, each of which may be of very many rows', () => {
    const work = mergeOrder({ base: ids, target: ids, source: ids }, () => true)
    let turns = 0
    while (!work.next().done) turns++
    expect(turns, 'both moves, the neighbours, and what is put in of two sides').to.equal(5)
  })
})
