import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Reply, type RunningService, startService } from '../support/servers/service.ts'

describe('http: API keys', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  const make = async (name: string, ...scopes: string[]) =>
    (await service.post('/keys/', { key: { name, scopes } })).body.key
  const as = (secret: string) => ({ authorization: `ApiKey ${secret}` })

  // interface 14.1
  it('are made with a secret that is shown once, listed, and revoked', async () => {
    const key = await make('ci', 'read', 'write')
    expect(key).to.include({
      name: 'ci',
      email: 'ci@branchpoint.local',
      last_used_at: null,
      revoked_at: null,
    })
    expect(key.scopes).to.deep.equal(['read', 'write'])
    expect(key.secret).to.match(/^svc_/)
    expect((await service.post('/workflows/query', {}, as(key.secret))).status).to.equal(200)

    const listed = (await service.get('/keys/')).body.keys.find(({ id }: { id: string }) => id === key.id)
    expect(listed).to.not.have.property('secret')
    expect(Date.parse(listed.last_used_at)).to.be.at.least(Date.parse(key.created_at) - 1000)

    const revoked = await service.call('DELETE', `/keys/${key.id}`)
    expect(revoked.body.key.revoked_at).to.be.a('string')
    expect((await service.post('/workflows/query', {}, as(key.secret))).status).to.equal(401)
    const again = await service.call('DELETE', `/keys/${key.id}`)
    expect([again.status, again.body.code]).to.deep.equal([404, 'key_not_found'])
  })

  it('may share a name, and are found by name, scopes and window', async () => {
    const [one, two] = [await make('twin', 'read'), await make('twin', 'admin')]
    expect(one.id).to.not.equal(two.id)
    const query = async (body: object): Promise<string[]> =>
      (await service.post('/keys/query', body)).body.keys.map(({ id }: { id: string }) => id)
    expect(await query({ key: { name: 'TWI' } })).to.deep.equal([one.id, two.id])
    expect(await query({ key: { name: 'twin', scopes: ['admin'] } })).to.deep.equal([two.id])
    const page = (
      await service.post('/keys/query', {
        key: { name: 'twin' },
        windowing: { limit: 1, order: 'ascending' },
      })
    ).body
    expect(page.windowing.next).to.equal(one.id)
    expect(await query({ key: { name: 'twin' }, windowing: page.windowing })).to.deep.equal([two.id])
  })

  it('are made once for an Idempotency-Key; what is secret is in the first answer alone', async () => {
    const send = () =>
      service.post('/keys', { key: { name: 'once', scopes: ['read'] } }, { 'idempotency-key': 'one-key' })
    const [first, second] = [await send(), await send()]
    expect(second.body.key.id).to.equal(first.body.key.id)
    expect(first.body.key.secret).to.be.a('string')
    expect(second.body.key).to.not.have.property('secret')
  })

  it('are refused for what is wrong with them, and stored nowhere then', async () => {
    const before = (await service.get('/keys')).body.count
    for (const [body, about] of [
      [{ key: { name: 'a<b', scopes: ['read'] } }, 'name'],
      [{ key: { name: 'ok', scopes: [] } }, 'scope'],
      [{ key: { name: 'ok', scopes: ['root'] } }, 'scopes'],
      [{ key: { name: 'ok' } }, 'scopes'],
      [{ key: { name: 'ok', scopes: ['read'], email: 'nobody' } }, 'email'],
    ] as const) {
      const { status, text } = await service.post('/keys', body)
      expect(status, text).to.equal(422)
      expect(text).to.contain(about)
    }
    expect((await service.get('/keys')).body.count).to.equal(before)
  })

  it('want the scope admin, and show those of their own project', async () => {
    const { secret } = await make('reader', 'read', 'write', 'deploy', 'invoke')
    for (const reply of [
      await service.get('/keys', as(secret)),
      await service.post('/keys', { key: { name: 'mine', scopes: ['admin'] } }, as(secret)),
      await service.get('/secrets', as(secret)),
    ])
      expect([reply.status, reply.body.code]).to.deep.equal([403, 'missing_scope'])
  })
})

describe('http: the last admin key', () => {
  // interface 14.1
  it('cannot be revoked where SVC_API_KEY is not set', async () => {
    const first = await startService()
    const { secret } = (await first.post('/keys', { key: { name: 'root', scopes: ['admin'] } })).body.key
    await first.stop({ keepStore: true })
    const service = await startService({ storeDir: first.storeDir, env: { SVC_API_KEY: '' } })
    try {
      const headers = { authorization: `ApiKey ${secret}` }
      const [{ id }] = (await service.get('/keys', headers)).body.keys
      const revoke = (): Promise<Reply> => service.call('DELETE', `/keys/${id}`, undefined, headers)
      const refused = await revoke()
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'last_admin_key'])
      expect((await service.get('/keys', headers)).body.keys[0].last_used_at).to.be.a('string')
      await service.post('/keys', { key: { name: 'other', scopes: ['admin'] } }, headers)
      expect((await revoke()).status).to.equal(200)
    } finally {
      await service.stop({ keepStore: true })
    }
    // What was noted of uses outlives the server.
    const uses = JSON.parse(readFileSync(join(first.storeDir, 'default', 'key-uses.json'), 'utf8')) as {
      uses: object
    }
    expect(Object.keys(uses.uses)).to.have.length(1)
  })
})

describe('http: secrets', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  // interface 14.3
  it('are set, replaced, listed and removed, and no answer has a value', async () => {
    const set = (name: string, secret: object) => service.put(`/secrets/${name}`, { secret })
    const first = await set('OPENAI_API_KEY', {
      value: 'sk-one-marked',
      provider: 'openai',
      base_url: 'https://api.example.org/v1',
    })
    expect(first.status, first.text).to.equal(200)
    expect(first.body.secret).to.include({
      name: 'OPENAI_API_KEY',
      provider: 'openai',
      base_url: 'https://api.example.org/v1',
    })
    const second = await set('OPENAI_API_KEY', { value: 'sk-two-marked' })
    expect(second.body.secret).to.not.have.property('provider')
    expect(second.body.secret.created_at).to.equal(first.body.secret.created_at)
    const listed = await service.get('/secrets/')
    expect(listed.body).to.deep.equal({ count: 1, secrets: [second.body.secret] })
    const removed = await service.call('DELETE', '/secrets/OPENAI_API_KEY')
    expect(removed.body.secret.name).to.equal('OPENAI_API_KEY')
    expect([first, second, listed, removed].map(({ text }) => text).join()).to.not.contain('marked')
    const missing = await service.call('DELETE', '/secrets/OPENAI_API_KEY')
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'secret_not_found'])
    expect(missing.body.detail).to.contain('It has none')
  })

  it('are refused past eight megabytes in all, and what is there stays', async () => {
    const value = 'v'.repeat(64 * 1024)
    const put = (number: number) => service.put(`/secrets/S${number}`, { secret: { value } })
    expect((await put(0)).status).to.equal(200)
    // Each change reads and writes all of them, so most are copies of the first one, which nobody opens.
    const path = join(service.storeDir, 'default', 'secrets.json')
    const text = readFileSync(path, 'utf8')
    const file = JSON.parse(text) as { readonly secrets: readonly object[] }
    let set = 88
    const copies = Array.from({ length: set }, (_, number) => ({ ...file.secrets[0], name: `S${number}` }))
    writeFileSync(path, JSON.stringify({ ...file, secrets: copies }))
    let reply = await put(set)
    for (; reply.status === 200; reply = await put(set)) set++
    expect([reply.status, reply.body.code]).to.deep.equal([413, 'limit_exceeded'])
    expect(set).to.be.within(90, 96)
    expect((await service.get('/secrets')).body.count).to.equal(set)
    writeFileSync(path, text)
    await service.call('DELETE', '/secrets/S0')
  })

  it('are refused for what is wrong with them, without the value', async () => {
    for (const [name, secret, about] of [
      ['9LIVES', { value: 'marked' }, 'name'],
      ['EMPTY', { value: '' }, 'value'],
      ['LONG', { value: 'marked'.repeat(20_000) }, 'value'],
      ['URL', { value: 'marked', base_url: 'ftp://marked' }, 'base_url'],
      ['NONE', {}, 'value'],
    ] as const) {
      const { status, text } = await service.put(`/secrets/${name}`, { secret })
      expect(status, text).to.equal(422)
      expect(text).to.contain(about).and.not.contain('marked')
    }
    expect((await service.get('/secrets')).body.count).to.equal(0)
  })
})
