import { expect } from 'chai'
import { DeadlinePassed, runWithin } from '../../../src/base/scheduling/run-within.ts'

const LONG = 60_000

describe('scheduling: work with a deadline', () => {
  it('answers what the work does, and throws what it throws', () => {
    expect(runWithin(LONG, () => ({ found: 1 }))).to.deep.equal({ found: 1 })
    const problem = new Error('no')
    expect(() =>
      runWithin(LONG, () => {
        throw problem
      }),
    ).to.throw(problem)
  })

  const endless: Readonly<Record<string, () => unknown>> = {
    'a loop': () => {
      for (;;);
    },
    'a search': () => /(a+)+$/.test(`${'a'.repeat(60)}!`),
    'a loop that catches all': () => {
      for (;;)
        try {
          for (;;);
        } catch {
          // it goes on
        }
    },
  }
  for (const [what, work] of Object.entries(endless)) {
    it(`stops ${what}, inside of other work too`, () => {
      expect(() => runWithin(20, work)).to.throw(DeadlinePassed, '20 ms')
      const caught = runWithin(LONG, () => {
        try {
          return runWithin(20, work)
        } catch (error) {
          return error
        }
      })
      expect(caught).to.be.instanceOf(DeadlinePassed)
      expect(runWithin(LONG, () => 'goes on')).to.equal('goes on')
    })
  }
})
