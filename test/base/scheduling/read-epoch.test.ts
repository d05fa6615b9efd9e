import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { beginReadEpoch, readEpoch } from '../../../src/base/scheduling/cooperative.ts'

describe('turns of the event loop', () => {
  it('are shared by requests that come in together, and by no later ones', async () => {
    await nextRound()
    beginReadEpoch()
    const first = readEpoch()
    beginReadEpoch()
    expect(readEpoch()).to.equal(first)
    await nextRound()
    expect(readEpoch()).to.not.equal(first)
  })

  it('do not share with a request what was seen before it, after the requests of the last round', async () => {
    await nextRound()
    const seenBetween = readEpoch()
    expect(readEpoch()).to.equal(seenBetween)
    beginReadEpoch()
    expect(readEpoch()).to.not.equal(seenBetween)
  })
})
