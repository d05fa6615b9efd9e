import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync, symlinkSync } from 'node:fs'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'

describe('GET /projects/current/storage', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await post('/simple/workflows', {
      workflow: { slug: 'bot', data: { parameters: { a: randomBytes(5000).toString('hex') } } },
    })
    await post('/simple/testsets', {
      testset: { slug: 'rows', data: { testcases: [{ data: { city: 'Oslo' } }] } },
    })
  })
  after(() => service.stop())

  const post = async (path: string, body: object): Promise<void> => {
    const reply = await service.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
  }
  const storage = async (at = service) => {
    const { status, text, body } = await at.get('/projects/current/storage')
    expect(status, text).to.equal(200)
    return body.storage
  }
  /** What the program find says of the files below a folder of the project. */
  const found = (folder: string): number => {
    const files = execFileSync('find', [`${service.storeDir}/default/${folder}`, '-type', 'f'], {
      encoding: 'utf8',
    })
    const names = files.trim().split('\n').filter(Boolean)
    return names.reduce((sum, name) => sum + statSync(name).size, 0)
  }

  // interface 14.10
  it('adds up the files of each family as they are on the disk, and all of them', async () => {
    const { bytes, parts } = await storage()
    for (const family of ['workflows', 'testsets', 'environments', 'queries'])
      expect(parts[family], family).to.equal(family === 'queries' ? 0 : found(family))
    expect(parts.workflows).to.be.above(5000)
    const sizes: readonly number[] = Object.values(parts)
    expect(sizes.reduce((sum, size) => sum + size)).to.equal(bytes)
    await post('/simple/workflows', { workflow: { slug: 'more', data: { parameters: {} } } })
    expect((await storage()).parts.workflows).to.be.above(parts.workflows)
  })

  it('does not follow links out of the project', async () => {
    const before = (await storage()).parts.workflows
    symlinkSync('/usr', `${service.repository('bot')}/link`)
    expect((await storage()).parts.workflows).to.equal(before)
  })

  it('wants the scope admin, and works in memory', async () => {
    const headers = await keyWithScopes(service, ['read', 'write', 'deploy', 'invoke'])
    const refused = await service.get('/projects/current/storage', headers)
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    const memory = await startService({ storeDir: ':memory:' })
    await memory.post('/simple/workflows', { workflow: { slug: 'bot', data: { parameters: { a: 1 } } } })
    expect((await storage(memory)).parts.workflows).to.be.above(100)
    await memory.stop()
  })
})
