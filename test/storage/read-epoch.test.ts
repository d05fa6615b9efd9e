import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { beginTurn, currentTurn } from '../../src/storage/read-epoch.ts'

describe('turns of the event loop', () => {
  it('are shared by requests that come in together, and by no later ones', async () => {
    await nextRound()
    beginTurn()
    const first = currentTurn()
    beginTurn()
    expect(currentTurn()).to.equal(first)
    await nextRound()
    expect(currentTurn()).to.not.equal(first)
  })

  it('do not share with a request what was seen before it, after the requests of the last round', async () => {
    await nextRound()
    const seenBetween = currentTurn()
    expect(currentTurn()).to.equal(seenBetween)
    beginTurn()
    expect(currentTurn()).to.not.equal(seenBetween)
  })
})
