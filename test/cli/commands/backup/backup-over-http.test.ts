import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { doorTo } from '../../../../src/cli/backup/ends/door.ts'
import { httpSource } from '../../../../src/cli/commands/backup.ts'
import { git } from '../../../support/git/git-program.ts'
import { createApiKey } from '../../../../src/access/keys/api-keys.ts'
import { readConfig } from '../../../../src/config.ts'
import { nodeFs } from '../../../../src/storage/files/node-fs.ts'
import { runCommand } from './run-command.ts'
import { type SmallStore, startSmallStore } from './small-store.ts'

describe('branchpoint backup: over HTTP', () => {
  let store: SmallStore
  let key: string
  beforeEach(async () => {
    store = await startSmallStore()
    key = (
      await createApiKey(nodeFs, store.storeDir, { project: 'default', name: 'backup', scopes: ['read'] })
    ).token
  })
  afterEach(() => store.stop())

  const over = (...more: readonly string[]) =>
    runCommand('backup', ['--to', store.backupDir, '--url', `${store.service.url}/`, '--key', key, ...more])
  const FAMILIES = ['environments', 'workflows'] as const

  it('brings what a backup of the folder brings, with a key that may only read', async () => {
    await store.workflow('a', 3)
    await store.workflow('b')
    git(store.service.repository('a'), ['notes', 'add', '-m', 'Note', 'a'])
    git(store.service.repository('a'), ['tag', '-a', '-m', 'Heavy', 'heavy', 'a~1'])
    const { body } = await store.service.post('/workflows/query')
    await store.service.post(`/workflows/${body.workflows[0].id}/archive`)
    // The server records since when the tag is there, a moment after it sees it.
    while (
      !git(store.service.repository('a'), ['ls-tree', '--name-only', 'refs/meta/artifact']).includes(
        'tags.json',
      ) ||
      !git(store.service.repository('a'), ['show', 'refs/meta/artifact:tags.json']).includes('heavy')
    )
      await pause(20)
    const { lines, failures } = await over()
    expect(failures).to.deep.equal([])
    expect(lines.at(-2)).to.contain(': 5 repositories, 5 new,')
    for (const family of FAMILIES) {
      for (const name of readdirSync(join(store.backupDir, 'default', family))) {
        const slug = name.slice(0, -'.git'.length)
        const [mirror, original] = [store.mirror(slug, family), store.service.repository(slug, family)]
        // show-ref shows no HEAD that is not there yet.
        expect(git(mirror, ['symbolic-ref', 'HEAD'])).to.equal(git(original, ['symbolic-ref', 'HEAD']))
        expect(store.refs(mirror)).to.deep.equal(store.refs(original))
      }
    }
    expect((await over()).lines.at(-2)).to.contain(' 0 new, 0 changed, 5 as they were,')
    // One of the folder goes on with the same mirrors.
    expect((await store.backUp()).lines.at(-2)).to.contain(' 0 new, 0 changed, 5 as they were,')
    git(store.service.repository('b'), ['branch', 'more', 'b'])
    expect((await over()).lines.at(-2)).to.contain(' 0 new, 1 changed, 4 as they were,')
  })

  it('takes the server and the key from BRANCHPOINT_URL and BRANCHPOINT_KEY where they are not given', async () => {
    const { signal } = new AbortController()
    const environment = { BRANCHPOINT_URL: store.service.url, BRANCHPOINT_KEY: key }
    const to = ['--to', store.backupDir]
    const bare = await runCommand('backup', [...to, '--url', '--project', 'default'], signal, environment)
    expect(bare.lines.at(-2)).to.contain(`Backed up the server at ${store.service.url} to `)
    const named = await runCommand('backup', [...to, '--url', `${store.service.url}/`], signal, environment)
    expect(named.lines.at(-2)).to.contain(`Backed up the server at ${store.service.url} to `)
    const wrong = await runCommand(
      'backup',
      [...to, '--url', '--key', 'svc_wrong'],
      signal,
      environment,
    ).catch(String)
    expect(wrong).to.contain('unknown or revoked')
    const folder = await runCommand('backup', [...to, '--store', store.storeDir], signal, environment)
    expect(folder.lines.at(-2)).to.contain(`Backed up the store at ${store.storeDir} to `)
  })

  it('asks for all pages of a list', async () => {
    const slugs = Array.from({ length: 103 }, (_, n) => `w${n}`)
    for (let at = 0; at < slugs.length; at += 50) {
      const some = slugs.slice(at, at + 50)
      await Promise.all(some.map((slug) => store.service.post('/workflows/', { workflow: { slug } })))
    }
    const stop = new AbortController()
    const source = httpSource(doorTo(store.service.url, key, stop.signal), 'default', readConfig({}))
    const listed = (await source.list()).filter(({ family }) => family === 'workflows')
    expect(listed.map(({ slug }) => slug).sort()).to.deep.equal(slugs.sort())
  })

  it('calls the project as it is told, and leaves what else is in the backup alone', async () => {
    await store.workflow('a')
    await store.backUp()
    expect((await over('--project', 'remote')).lines.at(-2)).to.contain(' 4 new,')
    expect(readdirSync(join(store.backupDir, 'remote'))).to.deep.equal([...FAMILIES])
    expect(readdirSync(join(store.backupDir, 'default'))).to.deep.equal([...FAMILIES])
  })

  it('says why the server lets nobody in, and when there is none', async () => {
    const args = ['--to', store.backupDir, '--url', store.service.url]
    const wrong = await runCommand('backup', [...args, '--key', 'svc_wrong']).catch(String)
    expect(wrong).to.contain(store.service.url).and.match(/key/)
    const nowhere = ['--to', store.backupDir, '--url', 'http://127.0.0.1:9', '--key', 'k']
    expect(await runCommand('backup', nowhere).catch(String)).to.contain(
      'http://127.0.0.1:9 cannot be reached',
    )
    const odd = ['--to', store.backupDir, '--url', 'ftp://x', '--key', 'k']
    expect(await runCommand('backup', odd).catch(String)).to.contain('is not the address of a server')
  })
})
