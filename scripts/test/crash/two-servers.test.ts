import { expect } from 'chai'
import { CARELESS_LOGS } from '../../proofs/crash/shared/careless-logs.ts'
import { cutBoth } from '../../proofs/crash/shared/cut-both.ts'

/** Enough for every careless log, and short. */
const HISTORY = { rounds: 5, share: 0.06 }

// `npm run proof -- crash --servers 2` does the same at every step of long histories.
describe('crash: two servers over one database, either of which is stopped', () => {
  for (const seed of [1, 2]) {
    it(`both folders are what the database holds then, with every answered write (history ${seed})`, async () => {
      const { cuts, answered, failures } = await cutBoth({ ...HISTORY, seed, gitShare: 0.05 })
      expect(failures).to.deep.equal([])
      expect(cuts).to.be.greaterThan(20)
      expect(answered).to.be.greaterThan(3)
    })
  }

  describe('a careless use of the database is found out when', () => {
    for (const [what, careless] of Object.entries(CARELESS_LOGS)) {
      it(what, async () => {
        for (let seed = 1; seed <= 5; seed++) {
          // Some histories cannot even go on; that is not what it is about.
          const found = await cutBoth({ ...HISTORY, seed, careless, maxFailures: 1 }).catch(() => undefined)
          if (found && found.failures.length > 0) return
        }
        expect.fail('nothing was found')
      })
    }
  })
})
