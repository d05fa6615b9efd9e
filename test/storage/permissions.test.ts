import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'

describe('the permissions of files that hold what users sent, and hashes of keys', () => {
  let service: RunningService
  let umask: number
  before(() => (umask = process.umask(0)))
  after(async () => {
    process.umask(umask)
    await service.stop()
  })

  /** The files of the store that others may read or write, but locks with nothing in them, and repositories, which are as git makes them. */
  const open = (): string[] =>
    readdirSync(service.storeDir, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/\.git(\/|$)|\.guard$/.test(path))
      .filter((path) => {
        const stat = statSync(join(service.storeDir, path))
        return stat.isFile() && (stat.mode & 0o077) !== 0
      })

  it('are for the owner alone whatever the umask, also of databases of an earlier version', async () => {
    service = await startService()
    const application = {
      slug: 'echo',
      data: {
        uri: 'svc:custom:code:v0',
        runtime: 'javascript',
        script: 'export const evaluate = ({ q }) => q',
      },
    }
    await service.post('/simple/applications', { application })
    await service.post('/simple/testsets', {
      testset: { slug: 'rows', data: { testcases: [{ data: { q: 'private' } }] } },
    })
    await service.post('/simple/evaluators', { evaluator: { slug: 'exact', template: 'auto_exact_match' } })
    const ran = await service.post('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'echo' },
      evaluator_refs: [{ slug: 'exact' }],
      wait: true,
    })
    expect(ran.status, ran.text).to.equal(200)
    await service.post('/keys', { key: { name: 'k', scopes: ['read'] } }, { 'idempotency-key': 'once' })
    await service.post('/sessions', { session: { key: 'test-admin-key' } })
    await service.put('/secrets/TOKEN', { secret: { value: 'x' } })
    await service.get('/search')
    await service.stop({ keepStore: true })
    const files = execFileSync('find', [service.storeDir, '-name', '*.json*', '-o', '-name', '*.db'], {
      encoding: 'utf8',
    })
    for (const name of [
      'keys.json',
      'sessions.json',
      'secrets.json',
      'idempotency/',
      'evaluations/',
      'traces.db',
      'index.db',
    ])
      expect(files, name).to.contain(name)
    expect(open()).to.deep.equal(['format'])

    const databases = ['default/traces.db', 'default/index.db'].map((path) => join(service.storeDir, path))
    for (const path of databases) chmodSync(path, 0o644)
    service = await startService({ storeDir: service.storeDir })
    await service.post('/traces/query', {})
    await service.post('/search', { query: 'private' })
    for (const path of databases) expect(statSync(path).mode & 0o777, path).to.equal(0o600)
  })
})
