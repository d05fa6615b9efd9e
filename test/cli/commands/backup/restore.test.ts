import { expect } from 'chai'
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { startService } from '../../../support/servers/service.ts'
import { expectSound } from '../../../support/git/expect-sound.ts'
import { runCommand } from './run-command.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

describe('branchpoint restore', () => {
  let store: SmallStore
  let target: string
  beforeEach(async () => {
    store = await startSmallStore()
    target = join(store.folder, 'target')
    for (const slug of ['a', 'b', 'c']) await store.workflow(slug, 2)
    await store.backUp()
  })
  afterEach(() => store.stop())

  const restore = (...more: readonly string[]) =>
    runCommand('restore', ['--from', store.backupDir, '--store', target, ...more])
  const restored = (slug: string, family = 'workflows'): string =>
    join(target, 'default', family, `${slug}.git`)
  const summary = async (): Promise<string> => {
    const { lines, failures } = await restore()
    expect(failures).to.deep.equal([])
    return lines.find((line) => line.startsWith('Restored')) ?? expect.fail(lines.join('\n'))
  }

  it('makes repositories as the server makes them: our config, packed refs, one pack, nothing else', async () => {
    expect(await summary()).to.contain(
      ': 6 repositories, 6 restored, 0 in place of a seeded environment, 0 there',
    )
    const files = readdirSync(restored('a'), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(restored('a'), name)).isFile())
      .map((name) => name.replace(/pack-[0-9a-f]{40}/, 'pack-X'))
    expect(files.filter((name) => !name.endsWith('.rev')).sort()).to.deep.equal([
      'HEAD',
      'config',
      'objects/pack/pack-X.idx',
      'objects/pack/pack-X.pack',
      'packed-refs',
    ])
    expect(readFileSync(join(restored('a'), 'config'), 'utf8')).to.equal(
      readFileSync(join(store.service.repository('a'), 'config'), 'utf8'),
    )
    expectSound(restored('a'))
  })

  it('goes on where it was stopped: what is there and the same is left alone', async () => {
    await summary()
    rmSync(restored('b'), { recursive: true })
    const inode = statSync(restored('a')).ino
    expect(await summary()).to.contain(' 1 restored, 0 in place of a seeded environment, 5 there already')
    expect(statSync(restored('a')).ino).to.equal(inode)
  })

  it('takes what mirrors an environment for no difference, and puts it right', async () => {
    await summary()
    git(restored('a'), ['update-ref', 'refs/environments/staging', 'a'])
    expect(await summary()).to.contain(' 0 restored, 0 in place of a seeded environment, 6 there already')
    expect(store.refs(restored('a'))).to.deep.equal(store.refs(store.mirror('a')))
  })

  it('refuses a repository that is there with other content, by name, and restores the others', async () => {
    await summary()
    git(restored('b'), ['update-ref', 'refs/heads/b', 'b~1'])
    rmSync(restored('c'), { recursive: true })
    const refs = store.refs(restored('b'))
    const { lines, failures } = await restore()
    expect(failures).to.have.length(1)
    expect(failures[0]).to.match(
      /^default\/workflows\/b: .*other content.* \(refs\/heads\/b is \w{12}, in the backup \w{12}\)/,
    )
    expect(lines.join()).to.contain(' 1 restored,').and.contain(' 1 failed')
    expect(store.refs(restored('b'))).to.deep.equal(refs)
  })

  it('replaces environments that only the seeding has made, and no others', async () => {
    const service = await startService({ storeDir: target })
    try {
      const { body } = await service.post('/environments/query')
      const [edited] = body.environments
      await service.put(`/environments/${edited.id}`, { environment: { name: 'Mine' } })
      const { lines, failures } = await restore()
      expect(failures.map((line) => line.split(':')[0])).to.deep.equal([
        `default/environments/${edited.slug}`,
      ])
      expect(lines.join()).to.contain(' 3 restored, 2 in place of a seeded environment,')
      const now = (await service.post('/environments/query')).body.environments
      const before = (await store.service.post('/environments/query')).body.environments
      const others = (rows: readonly { slug: string; id: string; created_at: string }[]) =>
        rows
          .filter(({ slug }) => slug !== edited.slug)
          .map(({ id, slug, created_at }) => ({ id, slug, created_at }))
      expect(others(now)).to.deep.equal(others(before))
      // The seeded one's id leads nowhere now.
      for (const { id } of others(body.environments)) {
        expect((await service.get(`/environments/${id}`)).status).to.equal(404)
      }
      expect(readdirSync(join(target, 'default', 'environments')).sort()).to.deep.equal(
        ['development', 'production', 'staging'].map((slug) => `${slug}.git`),
      )
    } finally {
      await service.stop({ keepStore: true })
    }
  })

  it('leaves in the backup what only the backup has', async () => {
    git(store.service.repository('a'), ['update-ref', 'refs/heads/a', 'a~1'])
    rmSync(store.service.repository('b'), { recursive: true })
    await store.backUp()
    await summary()
    expect(readdirSync(join(target, 'default', 'workflows'))).to.deep.equal(['a.git', 'c.git'])
    expect(store.refs(restored('a'))).to.deep.equal(store.refs(store.service.repository('a')))
  })

  it('names a mirror that is damaged, restores nothing of it, and all the others', async () => {
    const folder = join(store.mirror('b'), 'objects', 'pack')
    const pack = join(folder, readdirSync(folder).find((name) => name.endsWith('.pack')) ?? expect.fail())
    const bytes = readFileSync(pack)
    bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
    rmSync(pack)
    writeFileSync(pack, bytes)
    const { failures } = await restore()
    expect(failures.map((line) => line.split(':')[0])).to.deep.equal(['default/workflows/b'])
    expect(readdirSync(join(target, 'default', 'workflows'))).to.deep.equal(['a.git', 'c.git'])
  })

  it('names what a server would not serve', async () => {
    mkdirSync(join(target, 'default', 'workflows'), { recursive: true })
    git(store.folder, ['clone', '--quiet', '--mirror', store.mirror('a'), restored('twin')])
    const { failures } = await restore()
    expect(failures).to.have.length(1)
    expect(failures[0])
      .to.contain('default/workflows/twin: it would not be served: ')
      .and.contain('same artifact id')
  })

  it('says when the backup is not whole, and refuses a folder that holds none', async () => {
    const path = join(store.backupDir, 'backup.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...manifest, finished_at: null }))
    expect((await restore()).lines[0]).to.equal('The backup was never finished: what it has is restored.')
    writeFileSync(path, JSON.stringify({ ...manifest, failed: 2 }))
    expect((await restore()).lines[0]).to.contain('failed for 2 repositories')
    const none = runCommand('restore', ['--from', join(store.folder, 'none'), '--store', target])
    expect(await none.catch(String)).to.contain('There is no backup at ')
    expect(await restore('--project', 'none').catch(String)).to.contain('has no project "none"')
  })
})
