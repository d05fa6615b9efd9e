import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApiKey, createFirstApiKey } from '../../src/access/keys/api-keys.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

describe('compat: what nobody may read', () => {
  let service: RunningService
  let denied = ''
  const fs = denying(() => denied)
  before(async () => {
    service = await startService({ fs })
    for (const slug of ['bot', 'other']) await create(service, slug)
    mkdirSync(join(service.storeDir, 'default/evaluations'), { recursive: true })
    writeFileSync(join(service.storeDir, 'default/evaluations/x.jsonl'), '{}\n')
    await service.post('/webhooks/', { webhook: { name: 'w', url: 'https://example.com/x', events: [] } })
  })
  after(() => service.stop())
  afterEach(() => (denied = ''))

  /** Starts the server over a store of which nobody may read this. */
  const restartDenied = async (path: string): Promise<void> => {
    await service.stop({ keepStore: true })
    denied = join(service.storeDir, path)
    service = await startService({ storeDir: service.storeDir, fs })
  }

  it('a repository: the server starts and names it; it is 503, all else is served; then it is served, too', async () => {
    await restartDenied('default/workflows/bot.git')
    const { status, body } = await service.get('/ready')
    expect([status, body.damaged.map((it: { repository: string }) => it.repository)]).to.deep.equal([
      200,
      ['workflows/bot'],
    ])
    expect(await retrieve(service, 'bot')).to.equal(503)
    expect(await retrieve(service, 'other')).to.equal(200)
    for (const path of ['/workflows/query', '/workflows/revisions/query', '/simple/workflows/query'])
      expect((await service.post(path)).status, path).to.equal(200)
    denied = ''
    expect(await retrieve(service, 'bot')).to.equal(200)
    expect((await service.get('/ready')).body.problems).to.equal(0)
  })

  it('a repository of a running server: the same', async () => {
    denied = join(service.storeDir, 'default/workflows/bot.git')
    expect(await retrieve(service, 'bot')).to.equal(503)
    expect((await service.post('/workflows/revisions/query')).status).to.equal(200)
    expect((await service.get('/ready')).body.problems).to.equal(1)
  })

  it('a project: the server starts and serves the others; keys of the others are known', async () => {
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      project: 'other',
      name: 'o',
      scopes: ['read', 'write'],
    })
    await restartDenied('default')
    const others = { authorization: `ApiKey ${token}` }
    expect((await service.post('/workflows/query', {}, others)).status).to.equal(200)
    expect((await service.post('/workflows/query')).status).to.equal(503)
    expect(
      (await service.post('/workflows/query', {}, { authorization: 'ApiKey svc_none' })).status,
    ).to.equal(401)
    expect((await service.get('/ready')).body.problems).to.be.greaterThan(0)
    denied = ''
    expect(await retrieve(service, 'other')).to.equal(200)
  })

  it('a key file: somebody has keys, so that no first one is made', async () => {
    await createApiKey(nodeFs, service.storeDir, { project: 'default', name: 'mine', scopes: ['read'] })
    denied = join(service.storeDir, 'default/keys.json')
    expect(await createFirstApiKey(fs, service.storeDir)).to.equal(undefined)
    await restartDenied('default/keys.json')
    expect(await retrieve(service, 'other')).to.equal(200)
  })

  for (const path of ['index.db', 'changes', 'evaluations/x.jsonl', 'webhooks', 'traces.db', 'idempotency'])
    it(`${path}: the server starts, and artifacts are served`, async () => {
      await restartDenied(`default/${path}`)
      expect((await service.get('/ready')).status).to.equal(200)
      expect(await retrieve(service, 'bot')).to.equal(200)
      expect((await service.post('/workflows/revisions/query')).status).to.equal(200)
      if (path.startsWith('evaluations'))
        expect((await service.post('/evaluations/query')).status).to.equal(200)
    })

  it('a FIFO in the place of a ref holds nobody up', async () => {
    const gitdir = service.repository('bot')
    mkdirSync(join(gitdir, 'refs/heads'), { recursive: true })
    execFileSync('mkfifo', [join(gitdir, 'refs/heads/fifo')])
    expect(await retrieve(service, 'bot')).to.equal(503)
    expect(await retrieve(service, 'other')).to.equal(200)
  })
})

/** The disk, of which nobody may read or change what lies in a folder. */
function denying(folder: () => string): Fs {
  const check = (path: string, syscall: string): void => {
    const denied = folder()
    if (denied === '' || !(path === denied ? syscall !== 'lstat' : path.startsWith(`${denied}/`))) return
    throw Object.assign(new Error(`EACCES: permission denied, ${syscall} '${path}'`), {
      code: 'EACCES',
      syscall,
    })
  }
  return {
    ...nodeFs,
    stat: (path) => (check(path, 'lstat'), nodeFs.stat(path)),
    readDir: (path) => (check(path, 'scandir'), nodeFs.readDir(path)),
    readFile: (path) => (check(path, 'open'), nodeFs.readFile(path)),
    open: (path) => (check(path, 'open'), nodeFs.open(path)),
    append: (path, bytes) => (check(path, 'open'), nodeFs.append(path, bytes)),
    create: (path, bytes) => (check(path, 'open'), nodeFs.create(path, bytes)),
    makeDir: (path) => (check(path, 'mkdir'), nodeFs.makeDir(path)),
    createSynced: async (path, bytes, mode) => (check(path, 'open'), nodeFs.createSynced(path, bytes, mode)),
  }
}

async function create(service: RunningService, slug: string): Promise<void> {
  await service.post('/simple/workflows/', { workflow: { slug, data: { parameters: {} } } })
}

async function retrieve(service: RunningService, slug: string): Promise<number> {
  return (await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } })).status
}
