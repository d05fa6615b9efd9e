import { expect } from 'chai'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKey, createProject } from '../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { type Reply, type RunningService, startService } from '../support/servers/service.ts'

describe('http: projects', () => {
  let service: RunningService
  let other: RunningService
  before(async () => {
    service = await startService()
    other = await startService({ storeDir: service.storeDir })
  })
  after(async () => {
    await other.stop({ keepStore: true })
    await service.stop()
  })

  const make = (name: unknown, headers?: Record<string, string>, at = service): Promise<Reply> =>
    at.post('/projects/', { project: { name } }, headers)
  const as = (secret: string) => ({ authorization: `ApiKey ${secret}` })
  const names = async (at = service): Promise<string[]> =>
    (await at.get('/projects/')).body.projects.map(({ name }: { name: string }) => name)

  // interface 14.6
  it('are made with a key of every scope, which opens the new project alone, on every server', async () => {
    const { status, body, text } = await make('Team-1')
    expect(status, text).to.equal(200)
    expect(body.project).to.deep.equal({ name: 'Team-1' })
    expect(body.key).to.include({ name: 'admin', revoked_at: null })
    expect(body.key.scopes).to.deep.equal(['read', 'write', 'deploy', 'invoke', 'annotate', 'admin'])
    const mine = as(body.key.secret)
    for (const at of [service, other]) {
      const { project } = (await at.get('/projects/current', mine)).body
      expect(project.name).to.equal('Team-1')
      expect(project.environments).to.include('production')
    }
    await service.post('/simple/workflows', {
      workflow: { slug: 'in-default', data: { parameters: { a: 1 } } },
    })
    expect((await service.post('/workflows/query', {}, mine)).body.count).to.equal(0)
    const created = { workflow: { slug: 'in-team', data: { parameters: { a: 1 } } } }
    expect((await other.post('/simple/workflows', created, mine)).status).to.equal(200)
    expect((await service.post('/workflows/query', {}, mine)).body.count).to.equal(1)
    expect((await service.get('/keys', mine)).body.keys).to.have.length(1)
    expect(await names()).to.deep.equal(['Team-1', 'default'])
    expect(await names(other)).to.deep.equal(['Team-1', 'default'])
  })

  // interface 14.6
  it('have names that differ in more than case, also where two are made at once, at two servers', async () => {
    expect((await make('solo')).status).to.equal(200)
    for (const name of ['solo', 'SOLO', 'default', 'DEFAULT', 'format']) {
      const { status, body } = await make(name)
      expect([status, body.code, body.detail.includes(`"${name}" is taken`)], name).to.deep.equal([
        409,
        'project_exists',
        true,
      ])
    }
    for (let round = 0; round < 5; round++) {
      const replies = await Promise.all([
        make(`Race${round}`),
        make(`race${round}`, {}, other),
        make(`rACE${round}`),
      ])
      const statuses = replies.map(({ status }) => status).sort()
      expect(statuses).to.deep.equal([200, 409, 409])
      const made = readdirSync(service.storeDir).filter((it) => it.toLowerCase() === `race${round}`)
      expect(made).to.deep.equal([replies.find(({ status }) => status === 200)?.body.project.name])
    }
  })

  it('are refused with a name that no folder should have, and nothing is stored', async () => {
    const before = await names()
    for (const name of [
      '',
      '-a',
      '_a',
      '.git',
      '..',
      'a/b',
      'a b',
      'ä',
      'x'.repeat(64),
      1,
      undefined,
      'a\n',
    ]) {
      const { status, text } = await make(name)
      expect(status, text).to.equal(422)
      expect(text).to.contain('name')
    }
    const odd = await service.post('/projects', { project: { name: 'ok', owner: 'me' } })
    expect([odd.status, odd.body.code]).to.deep.equal([422, 'unknown_field'])
    expect(await names()).to.deep.equal(before)
    expect((await make('y'.repeat(63))).status).to.equal(200)
  })

  // interface 14.6
  it('are made and listed by admins of the project default alone', async () => {
    const { secret } = (await make('elsewhere')).body.key
    const writer = (await service.post('/keys', { key: { name: 'w', scopes: ['read', 'write', 'deploy'] } }))
      .body
    for (const headers of [as(secret), as(writer.key.secret)]) {
      for (const reply of [await make('mine', headers), await service.get('/projects', headers)])
        expect([reply.status, reply.body.code]).to.deep.equal([403, 'missing_scope'])
    }
    expect((await make('mine', as(secret))).body.detail).to.contain('this key is of "elsewhere"')
    expect(await names()).to.not.include('mine')
  })

  it('are made once for an Idempotency-Key; what is secret is in the first answer alone', async () => {
    const headers = { 'idempotency-key': 'a-project' }
    const [first, second] = [await make('once', headers), await make('once', headers)]
    expect(second.status, second.text).to.equal(200)
    const { secret, ...key } = first.body.key
    expect(secret).to.be.a('string')
    expect(second.body).to.deep.equal({ ...first.body, key })
    expect((await make('twice', headers)).body.code).to.equal('idempotency_key_reused')
  })

  it('free their name where the key cannot be stored, and are whole where the maker died before that', async () => {
    const failing = {
      ...nodeFs,
      createSynced: (path: string, ...rest: [Uint8Array, number?]) =>
        path.includes('/full/') ? Promise.reject(new Error('ENOSPC')) : nodeFs.createSynced(path, ...rest),
    }
    const wanted = { name: 'full', by: 'key:admin' }
    const failure = await createProject(failing, service.storeDir, wanted, new Date()).catch(String)
    expect(failure).to.contain('ENOSPC')
    rmSync(join(service.storeDir, 'full'), { recursive: true, force: true })
    expect((await make('full')).status).to.equal(200)

    const path = join(service.storeDir, 'default/projects.json')
    const record = JSON.parse(readFileSync(path, 'utf8'))
    const [{ key_id }] = record.projects
    const left = { name: 'Left', key_id, created_at: new Date().toISOString() }
    writeFileSync(path, JSON.stringify({ ...record, projects: [...record.projects, left] }))
    expect((await make('left')).body.code).to.equal('project_exists')
    const key = { name: 'me', scopes: ['admin'] }
    const refused = await createApiKey(nodeFs, service.storeDir, { ...key, project: 'left' }).catch(String)
    expect(refused).to.contain('"Left" already')
    expect(existsSync(join(service.storeDir, 'left'))).to.equal(false)
    const { token } = await createApiKey(nodeFs, service.storeDir, { ...key, project: 'Left' })
    expect((await service.get('/projects/current', as(token))).body.project.name).to.equal('Left')
  })
})
