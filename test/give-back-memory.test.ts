import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { giveBackMemory } from '../src/give-back-memory.ts'

describe('giving memory back', () => {
  it('has garbage collected that nothing else would make V8 look for', async () => {
    const isGone = leave()
    for (let wait = 0; wait < 100 && !isGone(); wait++) {
      if (wait === 0) giveBackMemory()
      await pause(100)
    }
    expect(isGone()).to.equal(true)
  })
})

/** Leaves something behind; tells whether it is gone. */
function leave(): () => boolean {
  const left = new WeakRef({ rows: Array.from({ length: 100_000 }, (_, number) => ({ number })) })
  return () => left.deref() === undefined
}
