import { expect } from 'chai'
import { fuzzPushes } from '../../proofs/fuzz/runs/fuzz-pushes.ts'
import { fuzzRepositories } from '../../proofs/fuzz/runs/fuzz-repositories.ts'
import { fuzzRequests } from '../../proofs/fuzz/runs/fuzz-requests.ts'
import { fuzzSizes } from '../../proofs/fuzz/runs/fuzz-sizes.ts'

/** A fixed sample; `npm run proof -- fuzz` takes many more, and other ones every time. */
describe('fuzzing', () => {
  it('requests of every operation: no failure of ours, and answers are as the document says', async () => {
    const { problems, operations, neverSucceeded } = await fuzzRequests({ requests: 300, seed: 20_261 })
    expect(problems).to.deep.equal([])
    // Else hardly anything would be tried but the first door.
    expect(neverSucceeded.length).to.be.lessThan(operations.length * 0.9)
  })

  it('pushes with changed bytes: no failure of ours, repositories stay sound, whole ones are taken', async () => {
    const { problems, outcomes } = await fuzzPushes({ pushes: 12, seed: 20_261 })
    expect(problems).to.deep.equal([])
    expect(outcomes.size).to.be.greaterThan(3)
  })

  it('repositories with changed bytes: served as they were, or refused by name', async () => {
    const { problems, outcomes } = await fuzzRepositories({ damages: 6, seed: 20_261 })
    expect(problems).to.deep.equal([])
    expect([...outcomes.keys()].join()).to.contain('damaged_repository')
  })

  it('large requests of small parts: each is answered, and none fails', async () => {
    const { problems, outcomes } = await fuzzSizes({ requests: 20, seed: 20_261 })
    // How long others waited and how much memory that took are measured, not asserted: that depends on the machine.
    expect(problems.filter((problem) => problem.includes(': answered '))).to.deep.equal([])
    expect(outcomes.size).to.be.above(1)
  })
})
