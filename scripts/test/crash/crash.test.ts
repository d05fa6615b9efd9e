import { expect } from 'chai'
import { CARELESS } from '../../proofs/crash/careless.ts'
import { cutEverywhere } from '../../proofs/crash/cut-everywhere.ts'

/** Enough for every careless server, and short. */
const HISTORY = { rounds: 5, share: 0.12 }

/** Half as many cuts, each of which takes a start: `npm run proof -- crash` has twenty thousand. */
const CUT = { ...HISTORY, share: 0.06 }

// `npm run proof -- crash` does the same at every step of long histories.
describe('crash: whatever a crash leaves of the disk', () => {
  // Which cuts are looked at that closely is left to chance: of one history it may be none.
  let [cutTwice, lookedAtByGit] = [0, 0]
  for (const seed of [1, 2]) {
    // interface 15.8
    it(`every answered write is there after a start, nothing half done, the store sound (history ${seed})`, async () => {
      const { cuts, states, twice, checkedByGit, failures } = await cutEverywhere({
        ...CUT,
        seed,
        gitShare: 0.1,
      })
      expect(failures).to.deep.equal([])
      expect(cuts).to.be.greaterThan(30)
      expect(states).to.be.greaterThan(cuts)
      cutTwice += twice
      lookedAtByGit += checkedByGit
    })
  }

  it('some of them were cut again while they started, and some were looked at by git', () => {
    expect(cutTwice).to.be.greaterThan(0)
    expect(lookedAtByGit).to.be.greaterThan(0)
  })

  describe('a careless server is found out when', () => {
    for (const [what, careless] of Object.entries(CARELESS)) {
      it(what, async () => {
        for (let seed = 1; seed <= 5; seed++) {
          const { failures } = await cutEverywhere({ ...HISTORY, seed, careless, maxFailures: 1 })
          if (failures.length > 0) return
        }
        expect.fail('nothing was found')
      })
    }
  })
})
