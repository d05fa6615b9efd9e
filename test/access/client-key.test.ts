import { expect } from 'chai'
import { startService } from '../support/servers/service.ts'

describe('BRANCHPOINT_KEY', () => {
  const outer = process.env['BRANCHPOINT_KEY']
  before(() => (process.env['BRANCHPOINT_KEY'] = 'a-clients-key'))
  after(() => {
    if (outer === undefined) delete process.env['BRANCHPOINT_KEY']
    else process.env['BRANCHPOINT_KEY'] = outer
  })

  for (const [what, adminKey] of [
    ['where SVC_API_KEY is set, which is the one', 'an-admins-key'],
    ['where it is not', ''],
  ] as const) {
    it(`is what clients send, and never what the server takes: ${what}`, async () => {
      const env = { BRANCHPOINT_KEY: 'a-clients-key', SVC_API_KEY: adminKey }
      const service = await startService({ env })
      const ask = (key: string) => service.post('/workflows/query', {}, { authorization: `ApiKey ${key}` })
      try {
        expect((await ask('a-clients-key')).body.code).to.equal('unknown_key')
        if (adminKey !== '') expect((await ask(adminKey)).status).to.equal(200)
      } finally {
        await service.stop()
      }
    })
  }
})
