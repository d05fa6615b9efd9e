import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { TimeSlice } from '../../../src/base/scheduling/cooperative.ts'
import { restsDuring } from '../../support/rests.ts'

/** Keeps the processor busy for so many milliseconds. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('time slices', () => {
  it('let others have their turn in between, however many steps there are, and keep the order', async () => {
    let turns = 0
    let isDone = false
    const others = (async () => {
      for (; !isDone; turns++) await nextTurn()
    })()
    const seen: number[] = []
    const steps = Array.from({ length: 320 }, (_, step) => step)
    await new TimeSlice().each(steps, (step, index) => {
      work(1)
      expect(step).to.equal(index)
      seen.push(step)
    })
    isDone = true
    await others
    expect(seen).to.deep.equal(steps)
    // the clock is looked at after 64 steps of a millisecond each
    expect(turns).to.be.at.least(5)
  })

  it('wait for a step that takes its time', async () => {
    const seen: string[] = []
    await new TimeSlice().each(['a', 'b'], async (name) => {
      await nextTurn()
      seen.push(name)
    })
    expect(seen).to.deep.equal(['a', 'b'])
  })

  it('end work that nobody waits for, at its next rest and not before', async () => {
    const stop = new AbortController()
    const slice = new TimeSlice(stop.signal)
    stop.abort(new Error('nobody waits'))
    let steps = 0
    await slice.each([1, 2, 3], () => steps++)
    expect(steps).to.equal(3)
    work(20)
    expect(slice.isOver).to.equal(true)
    const ended = slice.each([4, 5], () => steps++).catch((error: unknown) => error)
    expect(await ended).to.have.property('message', 'nobody waits')
  })

  it('are counted by tests with a clock that moves on at each look', async () => {
    const steps = Array.from({ length: 640 }, (_, step) => step)
    expect(await restsDuring(() => new TimeSlice().each(steps, () => undefined))).to.equal(11)
    expect(await restsDuring(async () => undefined)).to.equal(0)
  })

  it('let others go on, and end work that goes on for too long', async () => {
    let others = 0
    const timer = setInterval(() => others++, 1)
    const slice = new TimeSlice(undefined, () => new Error('too much'), 1000)
    let problem: unknown
    try {
      for (;;) {
        for (const end = performance.now() + 2; performance.now() < end;);
        await slice.pause()
      }
    } catch (error) {
      problem = error
    }
    clearInterval(timer)
    expect(problem).to.be.an('error').with.property('message', 'too much')
    expect(others).to.be.greaterThan(2)
  })

  it('of work with a bound do not count what others take', async () => {
    // What this does itself is a thirtieth of that; the rest is for a machine on which it is interrupted.
    const slice = new TimeSlice(undefined, () => new Error('too much'), 1000)
    for (let round = 0; round < 20; round++) {
      for (const end = performance.now() + 6; performance.now() < end && round < 5;);
      const others = setImmediate(() => {
        for (const end = performance.now() + 60; performance.now() < end;);
      })
      await slice.pause()
      clearImmediate(others)
    }
  })
})
