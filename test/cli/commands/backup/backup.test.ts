import { expect } from 'chai'
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { identityName, thisProcess } from '../../../../src/storage/files/process-identity.ts'
import { expectSound } from '../../../support/git/expect-sound.ts'
import { runCommand } from './run-command.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

describe('branchpoint backup', () => {
  let store: SmallStore
  beforeEach(async () => {
    store = await startSmallStore()
  })
  afterEach(() => store.stop())

  const counts = async (...more: readonly string[]): Promise<string> => {
    const { lines, failures } = await store.backUp(...more)
    expect(failures).to.deep.equal([])
    return lines.find((line) => line.startsWith('Backed up')) ?? expect.fail(lines.join('\n'))
  }
  const gitOf = (slug: string, ...args: readonly string[]): string =>
    git(store.service.repository(slug), args)

  it('mirrors every repository with every ref and HEAD, and says how many', async () => {
    await store.workflow('a', 2)
    await store.workflow('b')
    gitOf('a', 'notes', 'add', '-m', 'Note', 'a')
    gitOf('a', 'tag', '-a', '-m', 'Heavy', 'heavy', 'a~1')
    gitOf('a', 'update-ref', 'refs/heads/deep/er', 'a')
    gitOf('a', 'pack-refs', '--all')
    expect(await counts()).to.match(/: 5 repositories, 5 new, 0 changed, 0 as they were, 0 failed/)
    for (const [slug, family] of [
      ['a', 'workflows'],
      ['b', 'workflows'],
      ['production', 'environments'],
    ] as const) {
      const mirror = store.mirror(slug, family)
      expect(store.refs(mirror)).to.deep.equal(store.refs(store.service.repository(slug, family)))
      expect(readFileSync(join(mirror, 'HEAD'), 'utf8')).to.equal(`ref: refs/heads/${slug}\n`)
      expectSound(mirror)
    }
    expect(git(store.mirror('a'), ['rev-parse', 'heavy^{}'])).to.equal(gitOf('a', 'rev-parse', 'a~1'))
    const { repositories, failed } = JSON.parse(readFileSync(join(store.backupDir, 'backup.json'), 'utf8'))
    expect({ repositories, failed }).to.deep.equal({
      repositories: { default: { environments: 3, workflows: 2 } },
      failed: 0,
    })
  })

  it('shares no file with the store', async () => {
    await store.workflow('a', 3)
    gitOf('a', 'gc', '--quiet')
    await counts()
    const inodes = (folder: string): number[] =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(folder, name)))
        .filter((stat) => stat.isFile())
        .map(({ ino, nlink }) => {
          expect(nlink).to.equal(1)
          return ino
        })
    const theirs = new Set(inodes(store.service.repository('a')))
    expect(inodes(store.mirror('a')).filter((inode) => theirs.has(inode))).to.deep.equal([])
  })

  it('asks git only for what changed', async () => {
    await store.workflow('a')
    await store.workflow('b')
    await counts()
    const path = process.env['PATH']
    try {
      process.env['PATH'] = store.folder
      expect(await counts()).to.match(/ 0 new, 0 changed, 5 as they were, /)
      await store.service.post('/workflows/query') // what serves the store needs no git either
      const { body } = await store.service.post('/workflows/variants/query', {
        workflow_refs: [{ slug: 'a' }],
      })
      const fields = { workflow_variant_id: body.workflow_variants[0].id, data: {} }
      await store.service.post('/workflows/revisions/commit', { workflow_revision_commit: fields })
      const { failures } = await store.backUp()
      expect(failures).to.deep.equal(['default/workflows/a: There is no git program on the PATH.'])
    } finally {
      process.env['PATH'] = path
    }
    expect(await counts()).to.match(/ 0 new, 1 changed, 4 as they were, /)
    expect(store.refs(store.mirror('a'))).to.deep.equal(store.refs(store.service.repository('a')))
  })

  it('follows what environments run, and keeps nothing of that', async () => {
    await store.workflow('a', 2)
    const reference = { workflow_revision_ref: { slug: 'a', version: 2 } }
    const to = { environment_ref: { slug: 'staging' } }
    await store.service.post('/workflows/revisions/deploy', { ...reference, ...to })
    await counts()
    expect(git(store.mirror('a'), ['rev-parse', 'refs/environments/staging'])).to.equal(
      gitOf('a', 'rev-parse', 'a'),
    )
    const { body } = await store.service.post('/environments/variants/query', {
      environment_refs: [{ slug: 'staging' }],
    })
    const fields = {
      environment_variant_id: body.environment_variants[0].id,
      delta: { remove: ['a.revision'] },
    }
    await store.service.post('/environments/revisions/commit', { environment_revision_commit: fields })
    expect(await counts()).to.contain(' 2 changed')
    expect(store.refs(store.mirror('a'))).to.deep.equal(store.refs(store.service.repository('a')))
  })

  it('keeps heads that were rewritten or removed, and tags that moved, and names them', async () => {
    await store.workflow('a', 3)
    gitOf('a', 'branch', 'other', 'a~1')
    gitOf('a', 'tag', 'moving', 'a')
    const before = gitOf('a', 'rev-parse', 'a')
    await counts()
    gitOf('a', 'update-ref', 'refs/heads/a', 'a~1')
    gitOf('a', 'branch', '-D', 'other')
    gitOf('a', 'tag', '-f', 'moving', 'a')
    gitOf('a', 'reflog', 'expire', '--all', '--expire=now')
    gitOf('a', 'gc', '--quiet', '--prune=now')
    const { lines } = await store.backUp()
    const kept = lines.filter((line) => line.startsWith('default/workflows/a: '))
    expect(kept.map((line) => line.replace(/backup\/\w+\.\w+\//, 'backup/TIME/'))).to.deep.equal([
      'default/workflows/a: refs/heads/a was rewritten in the store; what it was is kept as refs/backup/TIME/heads/a',
      'default/workflows/a: refs/heads/other was removed in the store; what it was is kept as refs/backup/TIME/heads/other',
      'default/workflows/a: refs/tags/moving was rewritten in the store; what it was is kept as refs/backup/TIME/tags/moving',
    ])
    const at = /refs\/backup\/\S+\/heads\/a$/.exec(kept[0] ?? '')?.[0] ?? expect.fail(kept[0])
    expect(git(store.mirror('a'), ['rev-parse', at])).to.equal(before)
    expectSound(store.mirror('a'))
    // It stays there, and is no change.
    expect(await counts()).to.contain(' 0 changed')
    await store.workflow('b')
    await counts()
    git(store.mirror('a'), ['gc', '--quiet', '--prune=now'])
    expect(git(store.mirror('a'), ['log', '--format=%H', '-1', at])).to.equal(before)
  })

  it('sets the mirror of a repository aside that is no longer in the store', async () => {
    await store.workflow('a')
    await store.workflow('b')
    await counts()
    const refs = store.refs(store.mirror('a'))
    rmSync(store.service.repository('a'), { recursive: true })
    const { lines, failures } = await store.backUp()
    expect(failures).to.deep.equal([])
    const [, kept = ''] =
      /^default\/workflows\/a: no longer in the store; .* as (\S+)$/.exec(lines[0] ?? '') ?? []
    expect(store.refs(join(store.backupDir, kept))).to.deep.equal(refs)
    expect(readdirSync(join(store.backupDir, 'default', 'workflows'))).to.deep.equal(['b.git'])
  })

  it('goes on where a run was stopped or killed', async () => {
    for (const slug of ['a', 'b', 'c']) await store.workflow(slug)
    const stop = new AbortController()
    const args = ['--to', store.backupDir, '--store', store.storeDir]
    const stopped = runCommand('backup', args, stop.signal)
    const seen = (): string[] =>
      ['environments', 'workflows'].flatMap((family) => {
        const folder = join(store.backupDir, 'default', family)
        return statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []
      })
    const watch = setInterval(() => seen().some((name) => name.endsWith('.git')) && stop.abort(), 1)
    const error = await stopped.then(
      () => expect.fail('it was not stopped'),
      (it: unknown) => it,
    )
    clearInterval(watch)
    expect(error).to.have.property('name', 'AbortError')
    const whole = seen()
    expect(whole.length).to.be.within(1, 5)
    expect(whole.every((name) => name.endsWith('.git'))).to.equal(true)
    // What a killed one leaves: a mirror in the making, a pack in the making.
    const dead = join(store.backupDir, 'default', 'environments', `.new-${deadProcess()}.1`)
    mkdirSync(join(dead, 'objects'), { recursive: true })
    expect(await counts()).to.contain(
      ` ${6 - whole.length} new, 0 changed, ${whole.length} as they were, 0 failed`,
    )
    expect(seen().filter((name) => !name.endsWith('.git'))).to.deep.equal([])
    await store.workflow('d')
    const begun = join(store.mirror('a'), 'objects', 'pack', 'tmp_pack_x')
    writeFileSync(begun, 'PACK')
    gitOf('a', 'branch', 'more')
    await counts()
    expectSound(store.mirror('a'))
  })

  it('names what cannot be backed up, and backs up the rest', async () => {
    for (const slug of ['good', 'damaged', 'borrowing']) await store.workflow(slug)
    const pack = join(store.service.repository('damaged'), 'objects', 'pack')
    for (const name of readdirSync(pack)) rmSync(join(pack, name))
    writeFileSync(join(store.service.repository('borrowing'), 'objects', 'info'), '')
    rmSync(join(store.service.repository('borrowing'), 'objects', 'info'))
    mkdirSync(join(store.service.repository('borrowing'), 'objects', 'info'))
    writeFileSync(
      join(store.service.repository('borrowing'), 'objects', 'info', 'alternates'),
      '/elsewhere\n',
    )
    symlinkSync(store.service.repository('good'), store.service.repository('linked'))
    const { lines, failures } = await store.backUp()
    expect(failures.map((line) => line.slice(0, line.indexOf(': ')))).to.deep.equal([
      'default/workflows/borrowing',
      'default/workflows/damaged',
      'default/workflows/linked',
    ])
    expect(failures[0]).to.contain('alternates')
    expect(failures[2]).to.contain('symbolic link')
    expect(lines.at(-2)).to.contain(' 4 new, 0 changed, 0 as they were, 3 failed')
    expect(readdirSync(join(store.backupDir, 'default', 'workflows'))).to.deep.equal(['good.git'])
    expect(JSON.parse(readFileSync(join(store.backupDir, 'backup.json'), 'utf8')).failed).to.equal(3)
  })

  it('makes fewer packs of many', async () => {
    await store.workflow('a')
    await counts()
    const commit = (n: number): string =>
      `commit refs/heads/more\ncommitter Ann <ann@example.com> ${n} +0000\ndata 0\n\ncheckpoint\n\n`
    const commits = Array.from({ length: 25 }, (_, n) => commit(n)).join('')
    git(store.mirror('a'), ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], commits)
    gitOf('a', 'branch', 'next')
    expect((await store.backUp()).failures).to.deep.equal([])
    const packs = readdirSync(join(store.mirror('a'), 'objects', 'pack')).filter((name) =>
      name.endsWith('.pack'),
    )
    expect(packs.length).to.be.below(20)
    expectSound(store.mirror('a'))
  })

  it('takes one project where one is named, and leaves the others in the backup alone', async () => {
    await store.workflow('a')
    await counts()
    mkdirSync(join(store.storeDir, 'second', 'workflows'), { recursive: true })
    git(store.folder, [
      'clone',
      '--quiet',
      '--mirror',
      store.service.repository('a'),
      join(store.storeDir, 'second', 'workflows', 'x.git'),
    ])
    expect(await counts('--project', 'second')).to.contain(': 1 repository, 1 new,')
    expect(readdirSync(join(store.backupDir, 'default', 'workflows'))).to.deep.equal(['a.git'])
    expect(readdirSync(join(store.backupDir, 'second', 'workflows'))).to.deep.equal(['x.git'])
  })
})

/** The name of a process of this host that is gone. */
function deadProcess(): string {
  return identityName({ ...thisProcess(), pid: 4_194_303, start: '1' })
}
