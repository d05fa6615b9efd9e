import { expect } from 'chai'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKey } from '../../src/access/api-keys.ts'
import { nodeFs } from '../../src/git/node-fs.ts'
import { allEndpoints } from '../../src/http/endpoints/all-endpoints.ts'
import { surfaceContext } from '../../src/http/surface-context.ts'
import { workflowSurfaces } from '../../src/resources/workflows/surfaces.ts'
import { git } from '../git/git-program.ts'
import type { Reply, RunningService } from '../service.ts'
import { startService } from '../service.ts'

const HOUR = 60 * 60 * 1000

/** A POST that writes, and how to bring about what it needs. */
interface Operation {
  readonly name: string
  readonly prepare: (service: RunningService, slug: string) => Promise<{ path: string; body: object }>
}

const data = { parameters: { prompt: { messages: [{ role: 'user', content: 'Hi' }] } } }

async function made(service: RunningService, slug: string) {
  const { body } = await service.post('/simple/workflows', { workflow: { slug, data } })
  return body.workflow as { id: string; variant_id: string; revision_id: string }
}

async function emptyVariant(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/workflows', { workflow: { slug } })
  const variant = await service.post('/workflows/variants', {
    workflow_variant: { workflow_id: body.workflow.id },
  })
  return variant.body.workflow_variant.id
}

const commitOf = (variant: string, more: object = {}) => ({
  workflow_revision_commit: { workflow_variant_id: variant, message: 'Again', data, ...more },
})

const OPERATIONS: readonly Operation[] = [
  {
    name: 'create an artifact',
    prepare: async (_, slug) => ({ path: '/workflows/', body: { workflow: { slug, name: 'New' } } }),
  },
  {
    name: 'create an artifact without a slug',
    prepare: async () => ({ path: '/applications', body: { application: { name: 'New' } } }),
  },
  {
    name: 'create an artifact with a chosen id',
    prepare: async () => ({
      path: '/workflows?workflow_id=01a1fbb1-f5c2-76ee-83de-4bacd1c878f6',
      body: { workflow: { name: 'New' } },
    }),
  },
  {
    name: 'simple create',
    prepare: async (_, slug) => ({ path: '/simple/workflows', body: { workflow: { slug, data } } }),
  },
  {
    name: 'simple create without data',
    prepare: async (_, slug) => ({ path: '/simple/evaluators', body: { evaluator: { slug } } }),
  },
  {
    name: 'create a variant',
    prepare: async (service, slug) => {
      const { id } = await made(service, slug)
      return { path: '/workflows/variants', body: { workflow_variant: { workflow_id: id } } }
    },
  },
  {
    name: 'fork',
    prepare: async (service, slug) => {
      await made(service, slug)
      return {
        path: '/workflows/variants/fork',
        body: { workflow_variant: { slug: `${slug}-fork` }, workflow_variant_ref: { slug } },
      }
    },
  },
  {
    name: 'fork under the shared path without a slug',
    prepare: async (service, slug) => {
      await made(service, slug)
      return { path: '/variants/fork', body: { workflow_variant: {}, workflow_variant_ref: { slug } } }
    },
  },
  {
    name: 'commit',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id) }
    },
  },
  {
    name: 'commit with a slug, a base and a warning',
    prepare: async (service, slug) => {
      const { variant_id, revision_id } = await made(service, slug)
      const more = {
        slug: `${slug}.final`,
        base_revision_id: revision_id,
        data: { uri: 'user:custom:hook:v0', url: 'https://example.org', headers: { 'X-Key': 'plain' } },
      }
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, more) }
    },
  },
  {
    name: 'commit a delta',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      const more = { data: undefined, delta: { set: { parameters: { temperature: 1 } } } }
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, more) }
    },
  },
  {
    name: 'first revision without a payload',
    prepare: async (service, slug) => {
      const workflow_variant_id = await emptyVariant(service, slug)
      return { path: '/workflows/revisions', body: { workflow_revision: { workflow_variant_id } } }
    },
  },
  ...(['archive', 'unarchive'] as const).flatMap((action) =>
    (['', 'variants/', 'revisions/', 'simple'] as const).map((level): Operation => ({
      name: `${action} ${level || 'artifact'}`,
      prepare: async (service, slug) => {
        const { id, variant_id, revision_id } = await made(service, slug)
        const target = level === 'variants/' ? variant_id : level === 'revisions/' ? revision_id : id
        const path = level === 'simple' ? `/simple/workflows/${target}` : `/workflows/${level}${target}`
        if (action === 'unarchive') await service.post(`${path}/archive`)
        return { path: `${path}/${action}`, body: {} }
      },
    })),
  ),
]

describe('Idempotency-Key', () => {
  let service: RunningService
  let now: Date
  let keys = 0

  beforeEach(async () => {
    now = new Date()
    service = await startService({ now: () => now })
  })
  afterEach(() => service.stop())

  const keyed = (path: string, body: object, key: string) =>
    service.post(path, body, { 'idempotency-key': key })
  const newKey = () => `key ${++keys}`

  async function restart(): Promise<void> {
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir, now: () => now })
  }

  /** Every commit and ref of every repository. */
  function everything(): string {
    const folder = join(service.storeDir, 'default/workflows')
    return readdirSync(folder)
      .map((name) => {
        const repository = join(folder, name)
        return `${name}\n${git(repository, ['rev-list', '--all'])}\n${git(repository, ['for-each-ref'])}`
      })
      .join('\n')
  }

  /** What a crash between the last write of the work and the note of its result leaves. */
  function forgetResults(): number {
    const folder = join(service.storeDir, 'default/idempotency')
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
    for (const name of files) {
      const { result, ...intent } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      expect(result, name).to.be.an('object')
      writeFileSync(join(folder, name), JSON.stringify(intent))
    }
    return files.length
  }

  function expectSame(name: string, first: Reply, again: Reply): void {
    expect(again.status, `${name}: ${again.text}`).to.equal(200)
    expect(again.body, name).to.deep.equal(first.body)
  }

  async function sendAll() {
    const sent = []
    for (const [number, { name, prepare }] of OPERATIONS.entries()) {
      const { path, body } = await prepare(service, `bot-${number}`)
      const key = newKey()
      const first = await keyed(path, body, key)
      expect(first.status, `${name}: ${first.text}`).to.equal(200)
      expect(first.headers.has('idempotent-replayed'), name).to.equal(false)
      sent.push({ name, path, body, key, first })
    }
    return sent
  }

  it('is understood by every POST that writes, and by nothing else', () => {
    const settings = { servicesBase: 'http://localhost/services', versionType: 'number' } as const
    const surfaces = workflowSurfaces.map((surface) => surfaceContext(surface, workflowSurfaces, settings))
    for (const { method, path, scope, recall } of allEndpoints(surfaces))
      expect(recall !== undefined, `${method} ${path}`).to.equal(method === 'POST' && scope !== 'read')
  })

  it('repeats the first answer of every operation, also after a restart, and changes nothing', async () => {
    const sent = await sendAll()
    const before = everything()
    for (const round of ['at once', 'restarted']) {
      if (round === 'restarted') await restart()
      for (const { name, path, body, key, first } of sent) {
        const again = await keyed(path, body, key)
        expectSame(`${name}, ${round}`, first, again)
        expect(again.headers.get('idempotent-replayed'), name).to.equal('true')
      }
    }
    expect(everything()).to.equal(before)
  })

  it('finds the work of a request that a crash cut off after its commit, whatever the operation', async () => {
    const sent = await sendAll()
    const before = everything()
    await service.stop({ keepStore: true })
    expect(forgetResults()).to.equal(sent.length)
    service = await startService({ storeDir: service.storeDir, now: () => now })
    for (const { name, path, body, key, first } of sent) expectSame(name, first, await keyed(path, body, key))
    // Truth was moved to where it was: the same refs, the same commits.
    expect(everything()).to.equal(before)
    const { path, body, key } = sent[0] ?? expect.fail('nothing was sent')
    expect((await keyed(path, body, key)).headers.get('idempotent-replayed')).to.equal('true')
  })

  it('finds it below what others committed since, and finishes the refs that follow', async () => {
    const { variant_id } = await made(service, 'bot')
    const tagged = commitOf(variant_id, { slug: 'golden' })
    const first = await keyed('/workflows/revisions/commit', tagged, 'tagged')
    const fork = { workflow_variant: {}, workflow_variant_ref: { slug: 'bot' } }
    const forked = await keyed('/workflows/variants/fork', fork, 'forked')
    forgetResults()
    const repository = service.repository('bot')
    git(repository, ['update-ref', '-d', 'refs/heads/bot-2'])
    git(repository, ['update-ref', '-d', 'refs/tags/golden'])
    expectSame('commit', first, await keyed('/workflows/revisions/commit', tagged, 'tagged'))
    expectSame('fork', forked, await keyed('/workflows/variants/fork', fork, 'forked'))
    const id = git(repository, ['rev-parse', 'refs/tags/golden', 'refs/heads/bot-2'])
    expect(new Set(id.split('\n')).size).to.equal(1)

    await service.post('/workflows/revisions/commit', commitOf(variant_id))
    await service.put(`/workflows/variants/${variant_id}`, { workflow_variant: { name: 'Renamed' } })
    forgetResults()
    expectSame('commit', first, await keyed('/workflows/revisions/commit', tagged, 'tagged'))
    expectSame('fork', forked, await keyed('/workflows/variants/fork', fork, 'forked'))
    expect(git(repository, ['rev-list', '--count', 'bot'])).to.equal('3')
  })

  it('begins again what a crash cut off before its commit', async () => {
    const { variant_id } = await made(service, 'bot')
    const first = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'lost')
    forgetResults()
    git(service.repository('bot'), ['update-ref', 'refs/heads/bot', 'bot~1'])
    now = new Date(now.getTime() + HOUR)
    const again = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'lost')
    expect(again.body.workflow_revision.version).to.equal(2)
    expect(again.body.workflow_revision.id).to.not.equal(first.body.workflow_revision.id)
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
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

  it('stands in the commit as a trailer that the message does not show', async () => {
    const { variant_id } = await made(service, 'bot')
    const { body } = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'a b: c')
    expect(body.workflow_revision.message).to.equal('Again')
    const format = '--format=%(trailers:key=Idempotency-Key,valueonly)'
    expect(git(service.repository('bot'), ['log', '-1', format, 'bot']).trim()).to.equal('a b: c')
  })

  it('is refused with another body, path or query string', async () => {
    const { id, variant_id } = await made(service, 'bot')
    await keyed('/workflows/revisions/commit', commitOf(variant_id), 'used')
    const before = everything()
    const others = [
      keyed('/workflows/revisions/commit', commitOf(variant_id, { message: 'Else' }), 'used'),
      keyed('/applications/revisions/commit', commitOf(variant_id), 'used'),
      keyed('/workflows/revisions/commit?x=1', commitOf(variant_id), 'used'),
      keyed(`/workflows/${id}/archive`, {}, 'used'),
    ]
    for (const { status, body } of await Promise.all(others))
      expect([status, body.code]).to.deep.equal([422, 'idempotency_key_reused'])
    expect(everything()).to.equal(before)
    const again = await keyed('/api/workflows/revisions/commit/', commitOf(variant_id), 'used')
    expect(again.headers.get('idempotent-replayed')).to.equal('true')
  })

  it('is each API key’s own', async () => {
    const { variant_id } = await made(service, 'bot')
    const options = { project: 'default', scopes: ['write'] }
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

  it('can be used again after a refusal', async () => {
    const { id, variant_id } = await made(service, 'bot')
    await service.post(`/workflows/${id}/archive`)
    const refused = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'retry')
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'archived'])
    await service.post(`/workflows/${id}/unarchive`)
    const { status, headers } = await keyed('/workflows/revisions/commit', commitOf(variant_id), 'retry')
    expect([status, headers.has('idempotent-replayed')]).to.deep.equal([200, false])
  })

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
