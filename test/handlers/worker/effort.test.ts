import { expect } from 'chai'
import { Effort } from '../../../src/handlers/worker/effort.ts'

describe('handlers: effort', () => {
  it('lets others go on, and ends a run that goes on for too long', async () => {
    let others = 0
    const timer = setInterval(() => others++, 1)
    const effort = new Effort(() => new Error('too much'), 1000)
    let problem: unknown
    try {
      for (;;) {
        for (const end = performance.now() + 2; performance.now() < end;);
        await effort.pause()
      }
    } catch (error) {
      problem = error
    }
    clearInterval(timer)
    expect(problem).to.be.an('error').with.property('message', 'too much')
    expect(others).to.be.greaterThan(2)
  })

  it('does not count what others take', async () => {
    // What this does itself is a thirtieth of that; the rest is for a machine on which it is interrupted.
    const effort = new Effort(() => new Error('too much'), 1000)
    for (let round = 0; round < 20; round++) {
      for (const end = performance.now() + 6; performance.now() < end && round < 5;);
      const others = setImmediate(() => {
        for (const end = performance.now() + 60; performance.now() < end;);
      })
      await effort.pause()
      clearImmediate(others)
    }
  })
})
