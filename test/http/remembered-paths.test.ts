import { expect } from 'chai'
import { createApiKey, type NewKey } from '../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { type RunningService, startService } from '../support/servers/service.ts'

describe('http: a path with parameters that was asked for before', () => {
  let service: RunningService
  let path: string
  before(async () => {
    service = await startService()
    const { body } = await service.post('/simple/applications', {
      application: { slug: 'bot', data: { parameters: { n: 1 } } },
    })
    path = `/applications/${body.application.id}`
  })
  beforeEach(async () => {
    for (let time = 0; time < 2; time++) expect((await service.get(path)).status).to.equal(200)
  })
  after(() => service.stop())

  const authorised = async (wanted: Pick<NewKey, 'project' | 'scopes'>) => {
    const { token } = await createApiKey(nodeFs, service.storeDir, { name: wanted.scopes.join(), ...wanted })
    return { authorization: `ApiKey ${token}` }
  }

  // interface 1.15, 2.4
  it('asks every key for its scopes, and shows none what is in another project', async () => {
    const writing = await authorised({ project: 'default', scopes: ['write'] })
    expect((await service.get(path, writing)).status).to.equal(403)
    const other = await authorised({ project: 'other', scopes: ['read'] })
    expect((await service.get(path, other)).status).to.equal(404)
    const reading = await authorised({ project: 'default', scopes: ['read'] })
    expect((await service.get(path, reading)).status).to.equal(200)
  })

  it('takes the same methods as before, and knows an id however it is written', async () => {
    expect((await service.call('PATCH', path)).status).to.equal(405)
    expect((await service.get(path.toUpperCase().replace('/APPLICATIONS', '/applications'))).status).to.equal(
      200,
    )
    expect((await service.get(`${path}0`)).status).to.equal(404)
    expect((await service.get(`${path}..`)).status).to.equal(422)
  })

  it('shows what became of it since', async () => {
    const id = path.split('/').at(-1)
    await service.call('PUT', path, { application: { id, name: 'Renamed' } })
    expect((await service.get(path)).body.application.name).to.equal('Renamed')
    await service.call('POST', `${path}/archive`)
    expect((await service.get(path)).body.application.deleted_at).to.be.a('string')
    await service.call('POST', `${path}/unarchive`)
  })
})
