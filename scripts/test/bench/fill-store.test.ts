import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { fillStore, PAGE, promptData, RARE_WORD } from '../../bench/fill-store.ts'
import { type RunningService, startService } from '../../../test/support/servers/service.ts'

describe('npm run bench: a filled store', () => {
  let service: RunningService
  before(async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'filled-'))
    await fillStore(storeDir, 50)
    service = await startService({ storeDir })
  })
  after(() => service.stop())

  it('holds what a request makes', async () => {
    const data = promptData(7)
    const tags = { team: 'sales' }
    const answer = await service.post('/simple/applications/', {
      application: { slug: 'bot-x', name: 'Bot x', tags, data },
    })
    expect(answer.status).to.equal(200)
    const [filled, posted] = ['bot-7', 'bot-x'].map((slug) => service.repository(slug))
    expect(layout(filled)).to.deep.equal(layout(posted))
    expect(git(filled, 'show', 'bot-7:data.json')).to.equal(git(posted, 'show', 'bot-x:data.json'))
    expect(git(filled, 'fsck', '--strict')).to.equal('')
    const revision = await service.post('/applications/revisions/retrieve', {
      application_ref: { slug: 'bot-7' },
    })
    expect(revision.body.application_revision).to.include({ version: 1, slug: 'bot-7-1' })
  })

  it('has a page of revisions with the rare word, and a tenth with the tag', async () => {
    const rare = await service.post('/applications/revisions/query', {
      application_revision: { message: RARE_WORD },
    })
    expect(rare.body.count).to.be.within(PAGE - 3, PAGE)
    const tagged = await service.post('/applications/query', { application: { tags: { team: 'support' } } })
    expect(tagged.body.count).to.equal(5)
  })

  it('has revisions that were made a second apart', async () => {
    const { body } = await service.post('/applications/revisions/query', {
      windowing: { limit: 3, order: 'ascending' },
    })
    const dates = body.application_revisions.map((it: { date: string }) => Date.parse(it.date))
    expect(dates).to.deep.equal([0, 1000, 2000].map((later) => Date.parse('2026-01-01T00:00:00Z') + later))
  })
})

/** The files of a repository, without what differs from one to another. */
function layout(repository = ''): unknown {
  const files = readdirSync(repository, { recursive: true, encoding: 'utf8' }).sort()
  return {
    files: files.map((file) => file.replace(/[0-9a-f]{40}/, '…')),
    config: readFileSync(join(repository, 'config'), 'utf8'),
    head: readFileSync(join(repository, 'HEAD'), 'utf8').replace(/bot-.*/, '…'),
    refs: git(repository, 'for-each-ref', '--format=%(refname) %(objecttype)').replace(/bot-.*/, '…'),
    meta: git(repository, 'ls-tree', '-r', '--name-only', 'refs/meta/artifact').replace(/bot-./, '…'),
  }
}

function git(repository = '', ...args: readonly string[]): string {
  return execFileSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
