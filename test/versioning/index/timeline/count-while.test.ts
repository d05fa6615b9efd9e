import { expect } from 'chai'
import { countWhile } from '../../../../src/versioning/index/timeline/count-while.ts'

describe('versioning: counting while items are so', () => {
  it('finds the first that is not, wherever it is and wherever it is looked for', () => {
    for (let length = 0; length <= 20; length++) {
      const items = Array.from({ length }, (_, number) => number)
      for (let first = 0; first <= length; first++) {
        for (let from = 0; from <= length; from++) {
          for (let to = from; to <= length; to++) {
            const found = countWhile(items, (item) => item < first, from, to)
            expect(found, `${first} from ${from} to ${to}`).to.equal(Math.min(to, Math.max(from, first)))
          }
        }
      }
    }
  })

  it('looks at few of very many', () => {
    const items = Array.from({ length: 100_000 }, (_, number) => number)
    let looks = 0
    const isBelow =
      (bound: number) =>
      (item: number): boolean => {
        looks++
        return item < bound
      }
    expect(countWhile(items, isBelow(77_777))).to.equal(77_777)
    expect(looks).to.be.at.most(36)
    looks = 0
    expect(countWhile(items, isBelow(50_003), 50_000)).to.equal(50_003)
    expect(looks).to.be.at.most(5)
  })
})
