import { expect } from 'chai'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

describe('compat: what git left in the way', () => {
  let service: RunningService
  beforeEach(async () => (service = await startService()))
  afterEach(() => service.stop())

  it('a branch of deeper names keeps the slug above them from being a variant, and nothing is stored', async () => {
    await create(service, 'bot')
    const repository = service.repository('bot')
    git(repository, ['update-ref', 'refs/heads/feature/x', 'refs/heads/bot'])
    for (const packed of [false, true]) {
      if (packed) git(repository, ['pack-refs', '--all'])
      const refs = git(repository, ['for-each-ref'])
      const refused = await fork(service, 'feature')
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'slug_taken'])
      expect(refused.body.detail).to.contain('refs/heads/feature/')
      expect(git(repository, ['for-each-ref'])).to.equal(refs)
    }
  })

  it('the empty folders of branches that are gone are in nobody’s way', async () => {
    await create(service, 'bot')
    mkdirSync(`${service.repository('bot')}/refs/heads/feature/deeper`, { recursive: true })
    expect((await fork(service, 'feature')).status).to.equal(200)
    expect(git(service.repository('bot'), ['rev-parse', 'feature'])).to.equal(
      git(service.repository('bot'), ['rev-parse', 'bot']),
    )
  })

  it('a lock that nobody of ours holds keeps one artifact from being repaired, and no server from starting', async () => {
    await create(service, 'bot')
    await create(service, 'other')
    await fork(service, 'cut')
    await service.stop({ keepStore: true })
    git(service.repository('bot'), ['update-ref', '-d', 'refs/heads/cut'])
    writeFileSync(`${service.repository('bot')}/refs/heads/cut.lock`, '')
    service = await startService({ storeDir: service.storeDir })
    for (const slug of ['bot', 'other']) {
      const { status } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } })
      expect(status).to.equal(200)
    }
    expect(existsSync(`${service.repository('bot')}/refs/heads/cut.lock`)).to.equal(true)
  })

  it('a commit that does not decode is refused by name where it is asked for, and hides no other', async () => {
    await create(service, 'bot')
    await create(service, 'other')
    const clone = temporaryFolder()
    git('/', ['clone', '-q', service.repository('bot'), clone])
    writeFileSync(`${clone}/data.json`, '{ "parameters": ')
    git(clone, ['commit', '-qam', 'Break it'])
    git(service.repository('bot'), ['fetch', '-q', clone, 'bot:bot'])
    const refused = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'damaged_repository'])
    expect(refused.body.detail).to.contain('data.json')
    for (const path of ['/workflows/revisions/query', '/simple/workflows/query', '/workflows/query']) {
      const answer = await service.post(path)
      expect(answer.status, `${path}: ${answer.text}`).to.equal(200)
      expect(answer.text).to.contain('"other"')
    }
  })
})

async function create(service: RunningService, slug: string): Promise<void> {
  await service.post('/simple/workflows/', { workflow: { slug, data: { parameters: { n: 1 } } } })
}

function fork(service: RunningService, slug: string) {
  return service.post('/variants/fork', {
    workflow_variant: { slug },
    workflow_variant_ref: { slug: 'bot' },
  })
}
