import { expect } from 'chai'
import { cloneOf } from '../../support/git/git-client.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'

describe('git over HTTP: a server without the git program', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  it('says with 503 what is missing, stores nothing, and serves again once it is there', async () => {
    const data = { parameters: { a: 1 } }
    await service.post('/simple/workflows/', { workflow: { slug: 'bot', data } })
    const clone = await cloneOf(service, 'bot')
    clone.write('data.json', '{"parameters": {"a": 2}}\n')
    await clone.commit('two')
    const advertisement = '/git/workflows/bot.git/info/refs?service=git-upload-pack'
    const path = process.env['PATH'] ?? expect.fail('no PATH')
    let fetched: Reply, pushed
    try {
      // The client is given its path here, before the server has lost its own.
      const pushing = clone.try('push')
      process.env['PATH'] = '/nowhere'
      pushed = await pushing
      fetched = await service.get(advertisement)
    } finally {
      process.env['PATH'] = path
    }
    expect(fetched.status).to.equal(503)
    expect(fetched.body.code).to.equal('storage_unavailable')
    expect(fetched.body.detail).to.contain('Install git')
    expect(pushed.code).not.to.equal(0)
    expect(pushed.terminal).to.contain('Install git')
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect(body.workflow_revision.data).to.deep.equal(data)
    expect((await service.get(advertisement)).status).to.equal(200)
    await clone.git('push', '-q')
  })
})
