import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import {
  cloneIn,
  cloneOf,
  latest,
  newFolder,
  remoteOf,
  runGit,
  workflow,
} from '../../support/git/git-client.ts'

describe('git: kinds of clones', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    const variant = await workflow(service, 'bot')
    for (let number = 2; number <= 5; number++) {
      await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: {
          workflow_variant_id: variant,
          slug: `v.${number}`,
          data: { parameters: { number } },
        },
      })
    }
    await service.post('/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 2 },
      environment_ref: { slug: 'production' },
    })
  })
  after(() => service.stop())

  for (const version of ['0', '2']) {
    it(`protocol version ${version}: everything a mirror needs, and only that`, async () => {
      const folder = newFolder()
      await runGit(folder, [
        '-c',
        `protocol.version=${version}`,
        'clone',
        '-q',
        '--mirror',
        remoteOf(service, 'bot'),
        '.',
      ])
      const repository = service.repository('bot')
      expect(git(folder, ['for-each-ref'])).to.equal(git(repository, ['for-each-ref']))
      expect(git(folder, ['for-each-ref', '--format=%(refname)'])).to.include('refs/environments/production')
      expect(git(folder, ['for-each-ref', '--format=%(refname)'])).to.include('refs/meta/artifact')
      expect(git(folder, ['fsck', '--strict'])).to.equal('')
    })
  }

  it('a shallow clone, and a push from it', async () => {
    const clone = await cloneOf(service, 'bot', { args: ['--depth', '1'] })
    expect(await clone.git('rev-list', '--count', 'HEAD')).to.equal('1')
    clone.write('data.json', '{"parameters": {"from": "shallow"}}')
    await clone.commit('Shallow')
    await clone.git('push', '-q')
    expect(await latest(service, 'bot')).to.include({ version: 6, message: 'Shallow' })
    await clone.git('fetch', '-q', '--unshallow')
    expect(await clone.git('rev-list', '--count', 'HEAD')).to.equal('6')
  })

  it('a partial clone, which fetches a blob when it is needed', async () => {
    const clone = await cloneOf(service, 'bot', { args: ['--filter=blob:none', '--no-checkout'] })
    const count = async (): Promise<number> =>
      (await clone.git('rev-list', '--objects', '--all', '--missing=print'))
        .split('\n')
        .filter((it) => it.startsWith('?')).length
    expect(await count()).to.be.greaterThan(3)
    expect(await clone.git('show', 'v.2:data.json')).to.include('"number": 2')
    clone.write('data.json', '{"parameters": {"from": "partial"}}')
    await clone.git('reset', '-q')
    await clone.commit('Partial')
    await clone.git('push', '-q')
    expect(await latest(service, 'bot')).to.include({ message: 'Partial' })
  })

  it('any object by its id', async () => {
    const clone = cloneIn(newFolder())
    await clone.git('init', '-q')
    const oid = git(service.repository('bot'), ['rev-parse', 'refs/heads/bot~2'])
    await clone.git('fetch', '-q', '--depth=1', remoteOf(service, 'bot'), oid)
    expect(await clone.git('rev-parse', 'FETCH_HEAD')).to.equal(oid)
  })

  it('more at once than are worked on at once', async () => {
    const narrow = await startService({ storeDir: service.storeDir, env: { GIT_MAX_REQUESTS: '1' } })
    try {
      const runs = await Promise.all(
        Array.from({ length: 4 }, () =>
          runGit(newFolder(), ['clone', '-q', '--bare', remoteOf(narrow, 'bot'), '.']),
        ),
      )
      expect(runs.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0])
      const path = '/git/workflows/bot.git/info/refs?service=git-upload-pack'
      const headers = { authorization: 'ApiKey test-admin-key' }
      const replies = await Promise.all(
        Array.from({ length: 12 }, () => fetch(narrow.url + path, { headers })),
      )
      await Promise.all(replies.map((reply) => reply.arrayBuffer()))
      const refused = replies.filter(({ status }) => status === 503)
      // How many come at once is up to the machine; who is refused in which order, `places` shows.
      for (const { headers: told } of refused) expect(told.get('retry-after')).to.equal('1')
      expect(replies.filter(({ status }) => status === 200)).to.have.length(12 - refused.length)
    } finally {
      await narrow.stop({ keepStore: true })
    }
  })
})
