import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { testsets } from './conformance/tested-family.ts'
import { cloneOf } from '../support/git/git-client.ts'
import { commitOf, data, made } from './keyed-operations.ts'
import { everything, expectSame, sendAll } from './keyed-requests.ts'
import { uploadFormOf } from './upload-form-of.ts'

const HOUR = 60 * 60 * 1000

/** Records hold addresses, which shall be the same after a restart. */
const ENV = { PUBLIC_URL: 'http://branchpoint.example', MAX_DOCUMENT_BYTES: '2097152' }

describe('Idempotency-Key after a failure', () => {
  let service: RunningService
  let now: Date

  beforeEach(async () => {
    now = new Date()
    isLosing = true
    service = await startService({ env: ENV, fs: losing, now: () => now })
  })
  afterEach(() => service.stop())

  const keyed = (path: string, body: object, key: string) =>
    service.post(path, body, { 'idempotency-key': key })

  /** A disk that takes intents, and while `isLosing` none of their results: what a crash before each of them leaves. */
  let isLosing = true
  const losing: Fs = {
    ...nodeFs,
    rename: (from, to) => {
      if (isLosing && /\/idempotency\/[^/]+\.json$/.test(to) && nodeFs.stat(to))
        throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
      nodeFs.rename(from, to)
    },
  }

  /** From here on results are kept; answers how many were not. */
  function keepResults(): number {
    isLosing = false
    const folder = join(service.storeDir, 'default/idempotency')
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
    for (const name of files)
      expect(JSON.parse(readFileSync(join(folder, name), 'utf8')), name).not.to.have.property('result')
    return files.length
  }

  /** The same store on a disk that fails once, where `breaks` says. */
  async function failingOnce(breaks: (call: keyof Fs, path: string) => boolean): Promise<void> {
    let broken = false
    const check = (call: keyof Fs, path: string) => {
      if (broken || !breaks(call, path)) return
      broken = true
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: call })
    }
    const fs: Fs = {
      ...nodeFs,
      createSynced: async (path, bytes) => {
        check('createSynced', path)
        await nodeFs.createSynced(path, bytes)
      },
      syncDir: async (path) => {
        check('syncDir', path)
        await nodeFs.syncDir(path)
      },
      rename: (from, to) => {
        check('rename', to)
        nodeFs.rename(from, to)
      },
      createLog: (path) => {
        check('createLog', path)
        return nodeFs.createLog(path)
      },
    }
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir, env: ENV, fs, now: () => now })
  }

  // interface 2.25
  it('finds the work of a request that a crash cut off after its commit, whatever the operation', async () => {
    const sent = await sendAll(service)
    const before = everything(service)
    await service.stop({ keepStore: true })
    expect(keepResults()).to.equal(sent.length)
    service = await startService({ storeDir: service.storeDir, env: ENV, now: () => now })
    for (const { name, path, body, key, first } of sent) expectSame(name, first, await keyed(path, body, key))
    expect(everything(service)).to.equal(before)
    const { path, body, key } = sent[0] ?? expect.fail('nothing was sent')
    expect((await keyed(path, body, key)).headers.get('idempotent-replayed')).to.equal('true')
  })

  it('finds it in the journal, and after the journal forgot it, beside the intent', async () => {
    const { variant_id } = await made(service, 'bot')
    const send = () => keyed('/workflows/revisions/commit', commitOf(variant_id), 'noted')
    const first = await send()
    expectSame('in the journal', first, await send())
    await service.stop({ keepStore: true })
    expect(readdirSync(join(service.storeDir, '.journal'))).to.deep.equal([])
    const beside = readdirSync(join(service.storeDir, 'default/idempotency'))
    expect(beside.filter((name) => name.endsWith('.decided'))).to.have.length(1)
    service = await startService({ storeDir: service.storeDir, env: ENV, fs: losing, now: () => now })
    expectSame('beside the intent', first, await send())
    keepResults()
    expectSame('kept', first, await send())
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
  })

  it('leaves nothing beside an intent that has its result', async () => {
    isLosing = false
    const { variant_id } = await made(service, 'bot')
    await keyed('/workflows/revisions/commit', commitOf(variant_id), 'plain')
    await service.stop({ keepStore: true })
    const beside = readdirSync(join(service.storeDir, 'default/idempotency'))
    expect(beside.filter((name) => name.endsWith('.decided'))).to.deep.equal([])
    service = await startService({ storeDir: service.storeDir, env: ENV, now: () => now })
  })

  it('takes no commit for the work because its trailer and its author say so: both can be pushed', async () => {
    const { variant_id } = await made(service, 'bot')
    const mine = await service.post('/workflows/revisions/commit', commitOf(variant_id))
    const [, name = '', email = ''] = /^(.*) <(.*)>$/.exec(mine.body.workflow_revision.author) ?? []
    await failingOnce((call) => call === 'createLog')
    const send = () => keyed('/workflows/revisions/commit', commitOf(variant_id), 'theirs')
    expect((await send()).status).to.equal(503)
    const clone = await cloneOf(service, 'bot')
    const forged = 'Again\n\nVariant: bot\nSlug: ../../../../../secrets.key\nIdempotency-Key: theirs'
    await clone.git(
      '-c',
      `user.name=${name}`,
      '-c',
      `user.email=${email}`,
      'commit',
      '-q',
      '--allow-empty',
      `--author=${name} <${email}>`,
      '-m',
      forged,
    )
    await clone.git('push', '-q', 'origin', 'HEAD')
    const again = await send()
    expect(again.body.workflow_revision.version, again.text).to.equal(4)
    expect(git(service.repository('bot'), ['tag'])).to.equal('')
  })

  it('finds it below what others committed since', async () => {
    const { variant_id } = await made(service, 'bot')
    const tagged = commitOf(variant_id, { slug: 'golden' })
    const first = await keyed('/workflows/revisions/commit', tagged, 'tagged')
    const fork = { workflow_variant: {}, workflow_variant_ref: { slug: 'bot' } }
    const forked = await keyed('/workflows/variants/fork', fork, 'forked')
    const repository = service.repository('bot')
    await service.post('/workflows/revisions/commit', commitOf(variant_id))
    await service.put(`/workflows/variants/${variant_id}`, { workflow_variant: { name: 'Renamed' } })
    keepResults()
    expectSame('commit', first, await keyed('/workflows/revisions/commit', tagged, 'tagged'))
    expectSame('fork', forked, await keyed('/workflows/variants/fork', fork, 'forked'))
    expect(git(repository, ['rev-list', '--count', 'bot'])).to.equal('3')
  })

  it('begins again what a crash cut off before its commit', async () => {
    const { variant_id } = await made(service, 'bot')
    const first = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'lost')
    keepResults()
    git(service.repository('bot'), ['update-ref', 'refs/heads/bot', 'bot~1'])
    now = new Date(now.getTime() + HOUR)
    const again = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'lost')
    expect(again.body.workflow_revision.version).to.equal(2)
    expect(again.body.workflow_revision.id).to.not.equal(first.body.workflow_revision.id)
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
  })

  it('does not archive again what was unarchived since', async () => {
    const { id, variant_id, revision_id } = await made(service, 'bot')
    for (const path of [`revisions/${revision_id}`, `variants/${variant_id}`, id]) {
      await keyed(`/workflows/${path}/archive`, {}, path)
      await service.post(`/workflows/${path}/unarchive`)
    }
    keepResults()
    for (const path of [`revisions/${revision_id}`, `variants/${variant_id}`, id])
      expect((await keyed(`/workflows/${path}/archive`, {}, path)).text, path).to.not.contain('deleted_at')
  })

  it('does not deploy again what another deployment replaced since', async () => {
    const { variant_id } = await made(service, 'bot')
    await service.post('/workflows/revisions/commit', commitOf(variant_id))
    const path = '/workflows/revisions/deploy'
    const deployOf = (version: number) => ({
      workflow_revision_ref: { slug: 'bot', version },
      environment_ref: { slug: 'production' },
    })
    const first = await keyed(path, deployOf(1), 'deploy')
    await service.post(path, deployOf(2))
    keepResults()
    expectSame('deploy', first, await keyed(path, deployOf(1), 'deploy'))
    const { body } = await service.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'bot' },
      environment_ref: { slug: 'production' },
    })
    expect(body.workflow_revision.version).to.equal(2)
  })

  it('finishes an upload that was cut off between its rows and its header, whether it made the variant or not', async () => {
    const empty = await service.post('/testsets', { testset: { slug: 'empty' } })
    const full = await made(service, 'full', testsets)
    for (const [slug, id] of [
      ['empty', empty.body.testset.id],
      ['full', full.id],
    ]) {
      isLosing = true
      const upload = () =>
        keyed(`/simple/testsets/${id}/upload`, uploadFormOf('a\n1\n', { testset_name: 'New' }), `key ${slug}`)
      const first = await upload()
      expect(first.body.testset.name).to.equal('New')
      isLosing = false
      git(service.repository(slug, 'testsets'), ['update-ref', 'refs/meta/artifact', 'refs/meta/artifact~1'])
      const { revision_id, name } = (await upload()).body.testset
      expect([revision_id, name]).to.deep.equal([first.body.testset.revision_id, 'New'])
    }
  })

  it('leaves no pack behind of an upload whose commit was there already, below another', async () => {
    const { id, revision_id } = await made(service, 'full', testsets)
    const upload = () =>
      keyed(`/testsets/revisions/${revision_id}/upload`, uploadFormOf('a\n1\n', {}), 'again')
    const first = await upload()
    const data = { testcases: [{ data: { b: '2' } }] }
    await service.post('/testsets/revisions/commit', { testset_revision: { testset_id: id, data } })
    keepResults()
    expect((await upload()).body.testset_revision.id).to.equal(first.body.testset_revision.id)
    const packs = readdirSync(join(service.repository('full', 'testsets'), 'objects/pack'))
    expect(packs.filter((file) => !/^pack-[0-9a-f]{40}\.(?:pack|idx)$/.test(file))).to.deep.equal([])
  })

  it('takes a commit for the work only if the same API key made it', async () => {
    const { variant_id } = await made(service, 'bot')
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      project: 'default',
      name: 'other',
      scopes: ['read', 'write'],
    })
    const theirs = { authorization: `ApiKey ${token}`, 'idempotency-key': 'shared' }
    await keyed('/workflows/revisions/commit', commitOf(variant_id), 'shared')
    const first = await service.post('/workflows/revisions/commit', commitOf(variant_id), theirs)
    keepResults()
    git(service.repository('bot'), ['update-ref', 'refs/heads/bot', 'bot~1'])
    const again = await service.post('/workflows/revisions/commit', commitOf(variant_id), theirs)
    expect(again.body.workflow_revision).to.include({
      version: 3,
      author: first.body.workflow_revision.author,
    })
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('3')
  })

  it('resumes after a disk that failed before the commit', async () => {
    const { variant_id } = await made(service, 'bot')
    await failingOnce((call) => call === 'createLog')
    const failed = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'disk')
    expect([failed.status, failed.body.code]).to.deep.equal([503, 'storage_unavailable'])
    const again = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'disk')
    expect(again.body.workflow_revision.version).to.equal(2)
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
  })

  it('goes on where the disk failed once when the commit was there already', async () => {
    const { variant_id } = await made(service, 'bot')
    const tagged = commitOf(variant_id, { slug: 'golden' })
    await failingOnce((call, path) => call === 'rename' && path.endsWith('refs/tags/golden'))
    const first = await keyed('/workflows/revisions/commit', tagged, 'disk')
    expect(first.status, first.text).to.equal(200)
    const repository = service.repository('bot')
    const head = git(repository, ['rev-parse', 'bot'])
    const again = await keyed('/workflows/revisions/commit', tagged, 'disk')
    expect(again.body.workflow_revision).to.include({ version: 2, slug: 'golden' })
    expect(git(repository, ['rev-parse', 'bot', 'golden'])).to.equal(`${head}\n${head}`)
  })

  it('resumes after a disk that failed when a new repository was there already', async () => {
    await service.post('/workflows', { workflow: {} })
    const isThere = (folder: string): boolean =>
      readdirSync(folder).filter((name) => !name.startsWith('.')).length === 2
    await failingOnce((call, path) => call === 'syncDir' && path.endsWith('/workflows') && isThere(path))
    // Too large for the journal to hold: its name is synced before the answer.
    const create = { workflow: { data: { ...data, script: 'x'.repeat(1_200_000) } } }
    expect((await keyed('/simple/workflows', create, 'disk')).status).to.equal(503)
    expect((await keyed('/simple/workflows', create, 'disk')).body.workflow.revision_id).to.be.a('string')
    expect((await service.post('/workflows/query')).body.count).to.equal(2)
  })

  it('writes nothing when the intent itself cannot be written', async () => {
    await failingOnce((call, path) => call === 'createSynced' && path.includes('/idempotency/'))
    expect((await keyed('/workflows', { workflow: { slug: 'bot' } }, 'disk')).status).to.equal(503)
    expect((await service.post('/workflows/query')).body.count).to.equal(0)
    expect((await keyed('/workflows', { workflow: { slug: 'bot' } }, 'disk')).status).to.equal(200)
  })
})
