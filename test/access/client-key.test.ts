import { expect } from 'chai'
import { type RunningService, startService } from '../service.ts'

describe('BRANCHPOINT_KEY', () => {
  let service: RunningService
  const outer = process.env['BRANCHPOINT_KEY']
  before(async () => {
    process.env['BRANCHPOINT_KEY'] = 'a-clients-key'
    service = await startService({ env: { BRANCHPOINT_KEY: 'a-clients-key', SVC_API_KEY: 'an-admins-key' } })
  })
  after(async () => {
    if (outer === undefined) delete process.env['BRANCHPOINT_KEY']
    else process.env['BRANCHPOINT_KEY'] = outer
    await service.stop()
  })

  it('is what clients send, and never what the server takes: that is SVC_API_KEY', async () => {
    const ask = (key: string) => service.post('/workflows/query', {}, { authorization: `ApiKey ${key}` })
    expect((await ask('a-clients-key')).body.code).to.equal('unknown_key')
    expect((await ask('an-admins-key')).status).to.equal(200)
  })
})
