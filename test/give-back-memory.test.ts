import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { giveBackMemory } from '../src/give-back-memory.ts'

describe('giving memory back', () => {
  it('has garbage collected that V8 would not look for by itself', async () => {
    const isGone = await leaveOldGarbage()
    giveBackMemory()
    // Half a minute where other tests of this process had some collected just before.
    while (!isGone()) await pause(100)
  })
})

/** Leaves something behind that has outlived the collections of young garbage; tells whether it is gone. */
async function leaveOldGarbage(): Promise<() => boolean> {
  let held: object | undefined = { rows: Array.from({ length: 10_000 }, (_, number) => ({ number })) }
  const left = new WeakRef(held)
  for (let round = 0; round < 20; round++) {
    // More than young garbage may take, so that it is collected with `held` alive.
    expect(Array.from({ length: 500_000 }, (_, number) => ({ number }))).to.have.length(500_000)
    await pause(1)
  }
  held = undefined
  return () => left.deref() === undefined
}
