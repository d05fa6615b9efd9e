import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { git } from '../../../support/git/git-program.ts'
import { encodeFolderKeys } from '../../../../src/registry/testsets/dedup/folder-keys.ts'
import { CacheFile } from '../../../../src/storage/files/cache-file.ts'
import { nodeFs } from '../../../../src/storage/files/node-fs.ts'
import { openIndexFile } from '../../../../src/registry/index/database/index-file.ts'
import { verified } from './verified.ts'
import { storeForEach } from './verify-store.ts'

describe('branchpoint verify: what is derived', () => {
  const { dir, repository } = storeForEach()

  it('mirror refs: named, then put where the environment says', async () => {
    const gitdir = repository('workflows/bot')
    const deployed = git(gitdir, ['rev-parse', 'refs/environments/production'])
    git(gitdir, ['update-ref', 'refs/environments/production', 'bot~1'])
    git(gitdir, ['update-ref', 'refs/environments/nowhere', 'bot'])
    const { of, isSound } = await verified(dir())
    expect(of('workflows/bot'))
      .to.match(/^stale /)
      .and.contain(`the environment says ${deployed}`)
    expect(isSound).to.equal(false)
    const repaired = await verified(dir(), { repair: true })
    expect(repaired.of('workflows/bot'))
      .to.match(/^repaired /)
      .and.contain(`moved refs/environments/production to ${deployed}`)
      .and.contain('removed refs/environments/nowhere')
    expect(repaired.isSound).to.equal(true)
    expect(git(gitdir, ['for-each-ref', 'refs/environments', '--format=%(refname) %(objectname)'])).to.equal(
      `refs/environments/production ${deployed}`,
    )
    expect((await verified(dir())).of('workflows/bot')).to.match(/^ok /)
  })

  it('the index file: named where it says something else than the commits, then deleted', async () => {
    expect((await verified(dir())).isSound).to.equal(true)
    const path = `${dir()}/default/index.db`
    const file = openIndexFile(path)
    file.run(
      "UPDATE revisions SET seconds = seconds - 60 WHERE artifact IN (SELECT number FROM artifacts WHERE slug = 'bot')",
    )
    file.close()
    const { of, isSound } = await verified(dir())
    expect(of('index.db')).to.match(/^stale .*It differs from the commits of workflows\/bot\./)
    expect(isSound).to.equal(false)
    expect((await verified(dir(), { repair: true })).of('index.db')).to.match(/^repaired .*deleted it/)
    expect((await verified(dir())).isSound).to.equal(true)
  })

  it('refs that records of the registry prove: a fork’s branch, HEAD', async () => {
    const gitdir = repository('workflows/bot')
    const refs = git(gitdir, ['for-each-ref'])
    expect((await verified(dir())).isSound).to.equal(true)
    git(gitdir, ['update-ref', '-d', 'refs/heads/fork'])
    git(gitdir, ['symbolic-ref', 'HEAD', 'refs/heads/gone'])
    const { of } = await verified(dir())
    for (const ref of ['refs/heads/fork', 'HEAD'])
      expect(of('workflows/bot'))
        .to.match(/^stale /)
        .and.contain(`${ref} does not follow`)
    expect(git(gitdir, ['for-each-ref'])).not.to.equal(refs)
    expect((await verified(dir(), { repair: true })).of('workflows/bot')).to.match(/^repaired /)
    expect(git(gitdir, ['for-each-ref'])).to.equal(refs)
    expect(git(gitdir, ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/bot')
  })

  it('but no chosen slug: a tag that is gone is named, and not put back', async () => {
    const gitdir = repository('workflows/bot')
    const chosen = git(gitdir, ['rev-parse', 'refs/tags/chosen'])
    git(gitdir, ['update-ref', '-d', 'refs/tags/chosen'])
    const { of, isSound } = await verified(dir(), { repair: true })
    expect(isSound).to.equal(true)
    expect(of('workflows/bot')).to.contain(`Commit ${chosen} says that the slug "chosen" was chosen for it`)
    expect(git(gitdir, ['tag'])).not.to.contain('chosen')
    expect((await verified(dir())).of('workflows/bot')).to.match(/^ok .*no such tag/)
  })

  it('nor a branch at what a record that came with a backup says, where that is no commit here', async () => {
    const gitdir = repository('workflows/bot')
    const tree = git(gitdir, ['rev-parse', 'bot^{tree}'])
    for (const start of ['../../../../../secrets.key', '0'.repeat(40), tree]) {
      const record = JSON.stringify({
        name: 'f',
        created_at: '2026-01-01T00:00:00Z',
        created_by_id: 'x',
        start,
      })
      const meta = git(gitdir, ['rev-parse', 'refs/meta/artifact'])
      const files = ['variants/odd.json', 'variants/..%2f..json', 'archived/x.json']
      const changes = files
        .map((path) => `M 100644 inline ${path}\ndata ${record.length}\n${record}\n`)
        .join('')
      const stream = `commit refs/meta/artifact\ncommitter A <a@b.c> 1700000000 +0000\ndata 1\nx\nfrom ${meta}\n${changes}`
      git(gitdir, ['fast-import', '--quiet', '--force'], stream)
      const refs = git(gitdir, ['for-each-ref'])
      expect((await verified(dir(), { repair: true })).of('workflows/bot')).to.contain(
        'refs/heads/odd is gone',
      )
      expect(git(gitdir, ['for-each-ref'])).to.equal(refs)
    }
  })

  it('leftovers of dead processes are removed', async () => {
    const gitdir = repository('workflows/bot')
    const dead = deadProcess()
    mkdirSync(`${gitdir}/locks`, { recursive: true })
    const left = [`objects/pack/tmp_${dead}.1_pack`, `locks/${dead}.7`]
    for (const path of left) writeFileSync(`${gitdir}/${path}`, 'x')
    for (const path of left) expect((await verified(dir())).of('workflows/bot')).to.contain(path)
    expect((await verified(dir(), { repair: true })).of('workflows/bot')).to.match(/^repaired .* removed /)
    for (const path of left) expect(existsSync(`${gitdir}/${path}`)).to.equal(false)
  })

  it('files beside a repository that are damaged or wrong are removed, and made again', async () => {
    const bot = repository('workflows/bot')
    const rows = repository('testsets/rows')
    await verified(dir())
    writeFileSync(`${bot}/first-parents`, Buffer.alloc(96, 7))
    writeFileSync(`${rows}/row-keys`, Buffer.alloc(50, 7))
    const heads = readFileSync(`${rows}/verified-heads`)
    writeFileSync(`${rows}/verified-heads`, heads.subarray(1))
    const { of } = await verified(dir())
    expect(of('workflows/bot')).to.match(/^stale .* first-parents holds bytes that are no record/)
    expect(of('testsets/rows')).to.match(/^stale .*verified-heads is damaged.*row-keys is damaged/)
    expect((await verified(dir(), { repair: true })).isSound).to.equal(true)
    expect((await verified(dir())).summary).to.contain('5 ok')
    expect(readFileSync(`${rows}/verified-heads`).equals(heads)).to.equal(true)
  })

  it('files beside a repository that are whole and wrong', async () => {
    const bot = repository('workflows/bot')
    const rows = repository('testsets/rows')
    // The depth of the newest commit, which is 3.
    const record = Buffer.alloc(48)
    record.write(git(bot, ['rev-parse', 'bot']), 0, 'hex')
    record.writeUInt32BE(1, 40)
    record.writeUInt32BE(crc32(record.subarray(0, 44)), 44)
    writeFileSync(`${bot}/first-parents`, record)
    const keys = { bytes: Uint8Array.of(1), keys: Uint32Array.of(1, 2), folders: [] }
    const tree = git(rows, ['rev-parse', 'rows:testcases/00/00'])
    new CacheFile(nodeFs, `${rows}/row-keys`).write(encodeFolderKeys([[tree, keys]]))
    const { of } = await verified(dir())
    expect(of('workflows/bot')).to.match(/^(stale|damaged) .* first-parents is wrong about commit/)
    expect(of('testsets/rows')).to.match(/^stale .*row-keys is wrong about the rows of the tree/)
    await verified(dir(), { repair: true })
    expect((await verified(dir())).summary).to.contain('5 ok')
  })

  it('git’s commit-graph', async () => {
    const gitdir = repository('workflows/bot')
    git(gitdir, ['commit-graph', 'write', '--reachable'])
    const graph = `${gitdir}/objects/info/commit-graph`
    const bytes = readFileSync(graph)
    rmSync(graph)
    // Its checksum.
    writeFileSync(graph, bytes.fill(7, bytes.length - 10))
    expect((await verified(dir())).of('workflows/bot')).to.match(/^stale .*commit-graph/)
    expect((await verified(dir(), { repair: true })).of('workflows/bot')).to.match(/^repaired /)
    expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
  })
})

/** How a process that is not there any more signs what it leaves. */
function deadProcess(): string {
  const script = `import('${new URL('../../../../src/storage/files/process-identity.js', import.meta.url)}').then((it) => console.log(it.identityName(it.thisProcess())))`
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout.trim()
}
