import { expect } from 'chai'
import { pushRound } from '../../proofs/kill/push-round.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../../test/support/servers/service.ts'
import { newFolder, workflow } from '../../../test/support/git/git-client.ts'

describe('git: pushes and commits over REST at the same time', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  it('lose nothing of one another', async () => {
    await workflow(service, 'busy')
    const { pushed, acknowledged, problems } = await pushRound({
      url: service.url,
      key: ADMIN_KEY,
      slug: 'busy',
      repository: service.repository('busy'),
      folder: newFolder(),
      pushers: 4,
      committers: 4,
      runFor: 3000,
      idle: 400,
    })
    expect(problems).to.deep.equal([])
    expect(pushed).to.be.greaterThan(3)
    expect(acknowledged - pushed).to.be.greaterThan(10)
  })
})
