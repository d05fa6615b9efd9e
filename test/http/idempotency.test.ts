import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { allEndpoints } from '../../src/http/endpoints/all-endpoints.ts'
import { surfaceContext } from '../../src/http/surface-context.ts'
import { workflowSurfaces } from '../../src/run/handlers/workflows.ts'
import { surfacesOf } from '../../src/registry/families/surfaces.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { commitOf, data, made } from './keyed-operations.ts'
import { everything, expectSame, sendAll } from './keyed-requests.ts'
import { uploadFormOf } from './upload-form-of.ts'

const HOUR = 60 * 60 * 1000

/** Records hold addresses, which shall be the same after a restart. */
const ENV = { PUBLIC_URL: 'http://branchpoint.example' }

describe('Idempotency-Key', () => {
  let service: RunningService
  let now: Date

  beforeEach(async () => {
    now = new Date()
    service = await startService({ env: ENV, now: () => now })
  })
  afterEach(() => service.stop())

  const keyed = (path: string, body: object, key: string) =>
    service.post(path, body, { 'idempotency-key': key })

  async function restart(): Promise<void> {
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir, env: ENV, now: () => now })
  }

  it('is understood by every POST that writes, and by nothing else', () => {
    const settings = {
      servicesBase: 'http://localhost/services',
      gitBase: 'http://localhost/git',
      versionType: 'number',
      authorType: 'text',
      contradictions: 'warned',
      searchOf: () => expect.fail(),
      namesOf: () => expect.fail(),
      isExisting: false,
    } as const
    const limits = { testsets: { maxRows: 10, maxRowBytes: 1000, maxColumns: 10 } }
    const surfaces = surfacesOf(workflowSurfaces, limits)
    const contexts = surfaces.map((surface) => surfaceContext(surface, surfaces, settings))
    for (const { method, path, scope, recall } of allEndpoints(contexts, limits))
      expect(recall !== undefined, `${method} ${path}`).to.equal(method === 'POST' && scope !== 'read')
  })

  // interface 2.25
  it('repeats the first answer of every operation, also after a restart, and changes nothing', async () => {
    const sent = await sendAll(service)
    const before = everything(service)
    for (const round of ['at once', 'restarted']) {
      if (round === 'restarted') await restart()
      for (const { name, path, body, key, first } of sent) {
        const again = await keyed(path, body, key)
        expectSame(`${name}, ${round}`, first, again)
        expect(again.headers.get('idempotent-replayed'), name).to.equal('true')
      }
    }
    expect(everything(service)).to.equal(before)
  })

  it('answers the revision it made, though there are later ones', async () => {
    const simple = { workflow: { slug: 'bot', data } }
    const created = await keyed('/simple/workflows', simple, 'simple')
    const commit = commitOf(created.body.workflow.variant_id)
    const first = await keyed('/workflows/revisions/commit', commit, 'commit')
    await service.post('/workflows/revisions/commit', commitOf(created.body.workflow.variant_id))
    expectSame('simple', created, await keyed('/simple/workflows', simple, 'simple'))
    const again = await keyed('/workflows/revisions/commit', commit, 'commit')
    expectSame('commit', first, again)
    expect(again.headers.get('etag')).to.equal(first.headers.get('etag'))
  })

  it('answers the rows that an upload brought, though others came later', async () => {
    const path = '/simple/testsets/upload'
    const created = await keyed(path, uploadFormOf('a\n1\n', { testset_slug: 'set' }), 'create')
    const { id, revision_id } = created.body.testset
    const uploads = [`/simple/testsets/${id}/upload`, `/testsets/revisions/${revision_id}/upload`]
    const replies = []
    for (const upload of uploads) replies.push(await keyed(upload, uploadFormOf(`a\n${upload}\n`), upload))
    await service.put(`/simple/testsets/${id}`, { testset: { data: { testcases: [] } } })
    const again = await keyed(path, uploadFormOf('a\n1\n', { testset_slug: 'set' }), 'create')
    expectSame(path, created, again)
    for (const [index, upload] of uploads.entries()) {
      const reply = await keyed(upload, uploadFormOf(`a\n${upload}\n`), upload)
      expectSame(upload, replies[index] ?? expect.fail(upload), reply)
    }
    const other = await keyed(path, uploadFormOf('a\n2\n', { testset_slug: 'set' }), 'create')
    expect([other.status, other.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
  })

  // interface 2.25
  it('stands in the commit as a trailer that the message does not show', async () => {
    const { variant_id } = await made(service, 'bot')
    const { body } = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'a b: c')
    expect(body.workflow_revision.message).to.equal('Again')
    const format = '--format=%(trailers:key=Idempotency-Key,valueonly)'
    expect(git(service.repository('bot'), ['log', '-1', format, 'bot']).trim()).to.equal('a b: c')
  })

  // interface 2.25
  it('is refused with another body, path or query string', async () => {
    const { id, variant_id } = await made(service, 'bot')
    await keyed('/workflows/revisions/commit', commitOf(variant_id), 'used')
    const before = everything(service)
    const others = [
      keyed('/workflows/revisions/commit', commitOf(variant_id, { message: 'Else' }), 'used'),
      keyed('/applications/revisions/commit', commitOf(variant_id), 'used'),
      keyed(`/workflows/revisions/commit?workflow_variant_id=${variant_id}`, commitOf(variant_id), 'used'),
      keyed(`/workflows/${id}/archive`, {}, 'used'),
    ]
    for (const { status, body } of await Promise.all(others))
      expect([status, body.code]).to.deep.equal([422, 'idempotency_key_reused'])
    expect(everything(service)).to.equal(before)
    const again = await keyed('/api/workflows/revisions/commit/', commitOf(variant_id), 'used')
    expect(again.headers.get('idempotent-replayed')).to.equal('true')
  })

  it('is each API key’s own', async () => {
    const { variant_id } = await made(service, 'bot')
    const options = { project: 'default', scopes: ['read', 'write'] }
    for (const name of ['one', 'two']) {
      const { token } = await createApiKey(nodeFs, service.storeDir, { ...options, name })
      const headers = { authorization: `ApiKey ${token}`, 'idempotency-key': 'shared' }
      const { body } = await service.post('/workflows/revisions/commit', commitOf(variant_id), headers)
      expect(body.workflow_revision.author).to.contain(name)
    }
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('3')
  })

  it('makes one commit of many requests at once', async () => {
    const { variant_id } = await made(service, 'bot')
    const sent = Array.from({ length: 20 }, () =>
      keyed('/workflows/revisions/commit', commitOf(variant_id), 'burst'),
    )
    const replies = await Promise.all(sent)
    expect(new Set(replies.map(({ body }) => body.workflow_revision.id)).size).to.equal(1)
    expect(replies.filter(({ headers }) => !headers.has('idempotent-replayed'))).to.have.length(1)
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
  })

  it('can be used again, for another request even, after a refusal', async () => {
    const { id, variant_id } = await made(service, 'bot')
    await service.post(`/workflows/${id}/archive`)
    const refused = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'retry')
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'archived'])
    await service.post(`/workflows/${id}/unarchive`)
    const other = commitOf(variant_id, { message: 'Else' })
    const { status, headers } = await keyed('/workflows/revisions/commit', other, 'retry')
    expect([status, headers.has('idempotent-replayed')]).to.deep.equal([200, false])
  })

  // interface 2.25
  it('is forgotten after 24 hours', async () => {
    const { variant_id } = await made(service, 'bot')
    const versions = []
    for (const hours of [0, 23.9, 24]) {
      const start = now
      now = new Date(start.getTime() + hours * HOUR)
      const { body } = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'day')
      versions.push(body.workflow_revision.version)
      now = start
    }
    expect(versions).to.deep.equal([2, 2, 3])
  })

  it('has 1 to 255 printable ASCII characters, or the request is refused', async () => {
    for (const key of ['', 'x'.repeat(256), 'clé']) {
      const { status, body } = await keyed('/workflows', { workflow: {} }, key)
      expect([status, body.errors?.[0]?.type], key).to.deep.equal([422, 'invalid_idempotency_key'])
    }
    expect((await keyed('/workflows', { workflow: {} }, 'x'.repeat(255))).status).to.equal(200)
    expect((await keyed('/workflows/query', {}, 'clé')).status).to.equal(200)
  })

  it('leaves no trace where it is not sent or not needed', async () => {
    await made(service, 'bot')
    await keyed('/workflows/query', {}, 'reading')
    expect(readdirSync(join(service.storeDir, 'default'))).to.not.include('idempotency')
  })
})
