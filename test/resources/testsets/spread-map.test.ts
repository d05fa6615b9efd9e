import { expect } from 'chai'
import fc from 'fast-check'
import { SpreadMap } from '../../../src/resources/testsets/spread-map.ts'

describe('testsets: spread maps', () => {
  it('do as a Map does', () => {
    const key = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ unit: 'binary' }), fc.constant('__proto__'))
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.option(fc.nat(), { nil: undefined }))), (steps) => {
        const model = new Map<string, number>()
        const map = new SpreadMap<number>()
        for (const [name, value] of steps) {
          if (value === undefined) {
            model.delete(name)
            map.delete(name)
          } else {
            model.set(name, value)
            map.set(name, value)
          }
          expect(map.size).to.equal(model.size)
          for (const [known] of steps) {
            expect(map.get(known)).to.equal(model.get(known))
            expect(map.has(known)).to.equal(model.has(known))
          }
        }
      }),
    )
  })
})
