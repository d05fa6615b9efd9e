import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { ADMIN_KEY } from '../../../support/servers/service.ts'
import { createApiKey } from '../../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../../src/storage/files/node-fs.ts'
import { expectSound } from '../../../support/git/expect-sound.ts'
import { runCommand } from './run-command.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

/** The beginning of a bundle. */
const OID = '1'.repeat(40)
const HEADER = `# v2 git bundle\n${OID} `

describe('branchpoint restore: over HTTP', () => {
  let store: SmallStore
  let target: SmallStore
  beforeEach(async () => {
    store = await startSmallStore()
    target = await startSmallStore()
    for (const slug of ['a', 'b', 'c']) await store.workflow(slug, 2)
  })
  afterEach(async () => {
    await store.stop()
    await target.stop()
  })

  const restore = (key = ADMIN_KEY, ...more: readonly string[]) =>
    runCommand('restore', ['--from', store.backupDir, '--url', target.service.url, '--key', key, ...more])

  it('brings every ref to a server that has just seeded its environments, and goes on where it was stopped', async () => {
    const { service } = store
    git(service.repository('a'), ['notes', 'add', '-m', 'Note', 'a'])
    git(service.repository('a'), ['tag', '-a', '-m', 'Heavy', 'heavy', 'a~1'])
    const deployed = {
      workflow_revision_ref: { slug: 'a', version: 1 },
      environment_ref: { slug: 'staging' },
    }
    await service.post('/workflows/revisions/deploy', deployed)
    // The server records since when the tag is there, a moment after it sees it.
    while (
      !git(service.repository('a'), ['ls-tree', '--name-only', 'refs/meta/artifact']).includes('tags.json') ||
      !git(service.repository('a'), ['show', 'refs/meta/artifact:tags.json']).includes('heavy')
    )
      await pause(20)
    await store.backUp()
    git(service.repository('a'), ['update-ref', 'refs/heads/a', 'a~1'])
    await store.backUp()
    const { lines, failures } = await restore()
    expect(failures).to.deep.equal([])
    expect(lines[0]).to.contain(' 3 restored, 3 in place of a seeded environment, 0 there already')
    for (const [slug, family] of [
      ['a'],
      ['b'],
      ['staging', 'environments'],
      ['production', 'environments'],
    ]) {
      const [there, here] = [target, store].map((it) => it.service.repository(slug ?? '', family))
      expect(target.refs(there ?? '')).to.deep.equal(store.refs(here ?? ''))
      expectSound(there ?? '')
    }
    expect((await restore()).lines[0]).to.contain(
      ' 0 restored, 0 in place of a seeded environment, 6 there already',
    )
    expect(readdirSync(join(target.storeDir, '.uploads'))).to.deep.equal([])
  })

  it('takes what the server has recorded of branches and tags of plain git for no difference, and what somebody changed for one', async () => {
    await store.backUp()
    // As if they had been pushed while no server saw it.
    git(store.mirror('a'), ['update-ref', 'refs/heads/pushed', 'a~1'])
    git(store.mirror('a'), ['tag', 'pushed-tag', 'a'])
    expect((await restore()).failures).to.deep.equal([])
    const restored = target.service.repository('a')
    const metaOf = (gitdir: string): string => git(gitdir, ['rev-parse', 'refs/meta/artifact'])
    while (metaOf(restored) === metaOf(store.mirror('a'))) await pause(20)
    expect(git(restored, ['rev-parse', 'refs/meta/artifact~1'])).to.equal(metaOf(store.mirror('a')))
    for (const again of [
      () => restore(),
      () => runCommand('restore', ['--from', store.backupDir, '--store', target.storeDir]),
    ]) {
      const { lines, failures } = await again()
      expect(failures).to.deep.equal([])
      expect(lines.join()).to.contain(' 0 restored, 0 in place of a seeded environment, 6 there already')
    }
    const { body } = await target.service.post('/workflows/query', { workflow_refs: [{ slug: 'a' }] })
    const [{ id }] = body.workflows
    const edited = await target.service.put(`/workflows/${id}`, { workflow: { id, name: 'Mine' } })
    expect(edited.status, edited.text).to.equal(200)
    expect((await restore()).failures.join()).to.match(/^default\/workflows\/a: .*refs\/meta\/artifact is/)
  })

  it('refuses other content and a damaged mirror, by name, and restores the others', async () => {
    await store.backUp()
    await target.workflow('a')
    const folder = join(store.mirror('b'), 'objects', 'pack')
    const pack = join(folder, readdirSync(folder).find((name) => name.endsWith('.pack')) ?? expect.fail())
    const bytes = readFileSync(pack)
    bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60)
    rmSync(pack)
    writeFileSync(pack, bytes)
    const { lines, failures } = await restore()
    expect(failures.map((line) => line.split(':')[0])).to.deep.equal([
      'default/workflows/a',
      'default/workflows/b',
    ])
    expect(failures[0]).to.contain('other content than in the backup')
    expect(lines[0]).to.contain(' 1 restored, 3 in place of a seeded environment, 0 there already, 2 failed')
    expect(readdirSync(join(target.storeDir, 'default', 'workflows'))).to.deep.equal(['a.git', 'c.git'])
  })

  it('takes a key with the scope admin', async () => {
    await store.backUp()
    const { token } = await createApiKey(nodeFs, target.storeDir, {
      project: 'default',
      name: 'w',
      scopes: ['read', 'write', 'deploy'],
    })
    const { failures } = await restore(token)
    expect(failures).to.have.length(6)
    expect(failures[0]).to.contain('this request needs "admin"')
    expect((await target.service.post('/workflows/query')).body.count).to.equal(0)
  })
})

describe('PUT /git/<family>/<slug>.git', () => {
  let target: SmallStore
  before(async () => {
    target = await startSmallStore()
  })
  after(() => target.stop())

  for (const [what, path, body, status, words] of [
    ['a slug that is none', '/git/workflows/a..b.git?head=refs/heads/a', '', 422, 'slug'],
    ['a family that is none', '/git/locks/a.git?head=refs/heads/a', '', 404, 'no family "locks"'],
    ['no head', '/git/workflows/x.git', '', 422, 'query.head'],
    ['what is no bundle', '/git/workflows/x.git?head=refs/heads/a', 'PACK', 422, 'not a whole git bundle'],
    [
      'a name that no ref may have',
      '/git/workflows/x.git?head=refs/heads/a',
      `${HEADER}refs/../../x\n\n`,
      422,
      'cannot be the name',
    ],
    [
      'a bundle that builds on others',
      '/git/workflows/x.git?head=refs/heads/a',
      `# v2 git bundle\n-${OID} x\n\n`,
      422,
      'builds on commits',
    ],
    [
      'a bundle of no artifact',
      '/git/workflows/x.git?head=refs/heads/a',
      `${HEADER}refs/heads/a\n\n`,
      422,
      'no artifact',
    ],
    [
      'a bundle without its objects',
      '/git/workflows/x.git?head=refs/heads/a',
      `${HEADER}refs/meta/artifact\n\n`,
      422,
      'git does not accept',
    ],
  ] as const) {
    it(`the server refuses ${what}, and keeps nothing`, async () => {
      const reply = await target.service.call('PUT', path, body, {
        'content-type': 'application/x-git-bundle',
      })
      expect(reply.status, reply.text).to.equal(status)
      expect(reply.body.detail).to.contain(words)
      expect(
        readdirSync(join(target.storeDir, 'default')).includes('workflows')
          ? readdirSync(join(target.storeDir, 'default', 'workflows'))
          : [],
      ).to.deep.equal([])
    })
  }
})
