import { expect } from 'chai'
import { Refusal } from '../../../src/errors.ts'
import { MOST_WAITING_ASIDE, runAside } from '../../../src/base/scheduling/run-aside.ts'
import { isLineFull, keepBusy } from './busy-threads.ts'

describe('scheduling: work in threads', () => {
  let begun = 0
  const basename = () => {
    begun++
    return { module: 'node:path', name: 'basename', argument: '/a/b' }
  }
  beforeEach(() => (begun = 0))

  it('is refused where too many wait, and goes on for those that wait', async () => {
    const end = keepBusy(MOST_WAITING_ASIDE - 1)
    const last = runAside<string>(basename)
    const refused = await runAside(basename).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Refusal).and.to.include({ code: 'overloaded' })
    expect(begun).to.equal(0)
    await end()
    expect(await last).to.equal('b')
    expect(begun).to.equal(1)
    expect(await runAside(basename)).to.equal('b')
  })

  it('does not begin for who left, whose place in the line another one takes', async () => {
    const end = keepBusy(MOST_WAITING_ASIDE - 1)
    const gone = new AbortController()
    const left = runAside(basename, gone.signal).catch((error: unknown) => error)
    expect(await isLineFull()).to.equal(true)
    gone.abort(new Error('gone'))
    expect(await left).to.equal(gone.signal.reason)
    expect(await isLineFull()).to.equal(false)
    await end()
    expect(begun).to.equal(0)
  })
})
