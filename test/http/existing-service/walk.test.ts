import { expect } from 'chai'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { uploadFormOf } from '../upload-form-of.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const NOBODY = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

// Tests look into answers freely; the service has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

/** The steps that a client library of the existing service takes, in the shapes that it sends, one after the other. */
describe('COMPAT=existing: what clients of the existing service do', () => {
  let service: RunningService
  let app: Found
  let variant: Found
  let first: Found
  let testset: Found
  before(async () => {
    service = await startService({ env: { COMPAT: 'existing' } })
  })
  after(() => service.stop())

  const ok = async (reply: Promise<Reply>): Promise<Found> => {
    const { status, body, text } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  const post = (path: string, body?: unknown): Promise<Found> => ok(service.post(path, body))
  const prompt = (temperature: number) => ({
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [{ role: 'user', content: 'Say {{word}}' }],
        template_format: 'curly',
        llm_config: { model: 'mock', temperature },
      },
    },
  })

  it('creates an application, with nulls for what it leaves open and fields of its own', async () => {
    const body = {
      application: {
        slug: 'greeter',
        name: 'Greeter',
        description: null,
        flags: { is_chat: false, is_custom: false },
        tags: null,
        meta: null,
        folder_id: null,
        of_a_later_client: 1,
      },
    }
    app = (await post('/api/preview/applications/', body)).application
    expect(app).to.include({ slug: 'greeter', name: 'Greeter' })
    expect(app.id).to.match(UUID)
    expect(app.created_by_id).to.match(UUID)
  })

  it('makes a variant, seeds it and commits to it', async () => {
    const body = {
      application_variant: { application_id: app.id, slug: 'greeter.default', name: 'default', flags: null },
    }
    variant = (await post('/applications/variants/', body)).application_variant
    const seed = { application_id: app.id, application_variant_id: variant.id, slug: null }
    const seeded = await post('/applications/revisions/', { application_revision: seed })
    expect(seeded.application_revision.version).to.equal('1')
    const commit = { ...seed, message: 'Begin', data: prompt(0.1), revision_id: null, flags: {} }
    const done = await post(`/applications/revisions/commit?application_variant_id=${variant.id}`, {
      application_revision: commit,
    })
    first = done.application_revision
    expect(first).to.include({ version: '2', message: 'Begin', application_variant_id: variant.id })
    expect(first.author).to.match(UUID)
    expect(first.date).to.match(/Z$/)
  })

  it('deploys it and reads it by environment, variant, slug and id', async () => {
    const deployed = await post('/applications/revisions/deploy', {
      application_revision_ref: { id: first.id, slug: null, version: null },
      environment_ref: { slug: 'production', id: null },
      key: null,
      message: null,
    })
    expect(deployed.application_revision.id).to.equal(first.id)
    for (const references of [
      { application_ref: { slug: 'greeter' }, environment_ref: { slug: 'production' } },
      { application_ref: { slug: 'greeter' }, environment_ref: { slug: 'production' }, resolve: true },
      { application_variant_ref: { slug: 'greeter.default' } },
      { application_variant_ref: { slug: 'greeter.default' }, application_revision_ref: { version: '2' } },
      { application_revision_ref: { id: first.id } },
      { application_ref: { id: app.id }, application_revision_ref: null },
    ]) {
      const { application_revision: found, retrieval_info: info } = await post(
        '/applications/revisions/retrieve',
        references,
      )
      expect([found.id, found.version], JSON.stringify(references)).to.deep.equal([first.id, '2'])
      expect(found.data.parameters.prompt.llm_config.temperature).to.equal(0.1)
      expect(info.references.application_revision.version).to.equal('2')
    }
  })

  // interface 2.30
  it('is answered with count 0 where it reads, archives or asks for what is not there', async () => {
    for (const [method, path, body] of [
      ['GET', `/applications/${NOBODY}`],
      ['GET', `/applications/variants/${NOBODY}`],
      ['GET', `/applications/revisions/${NOBODY}`],
      ['GET', `/simple/testsets/${NOBODY}`],
      ['GET', `/testcases/${NOBODY}`],
      ['POST', `/workflows/${NOBODY}/archive`],
      ['POST', `/workflows/variants/${NOBODY}/unarchive`],
      ['POST', '/applications/revisions/retrieve', { application_ref: { slug: 'nobody' } }],
      ['POST', '/applications/revisions/retrieve', { application_variant_ref: { id: NOBODY } }],
      ['POST', '/applications/revisions/retrieve', { application_revision_ref: { slug: 'nobody-1' } }],
      ['POST', '/testsets/revisions/retrieve', { testset_ref: { slug: 'nobody' } }],
      ['GET', '/workflows/catalog/templates/nobody'],
    ] as const) {
      const found = await ok(service.call(method, path, body))
      expect(found, path).to.deep.equal({ count: 0 })
    }
    const log = await post('/workflows/revisions/log', {
      workflow_revisions: { workflow_variant_id: NOBODY },
    })
    expect(log).to.deep.equal({ count: 0, workflow_revisions: [] })
  })

  it('is still told what an environment does not hold, and what a write did not find', async () => {
    for (const [path, body] of [
      [
        '/applications/revisions/retrieve',
        { application_ref: { slug: 'greeter' }, environment_ref: { slug: 'staging' } },
      ],
      [
        '/applications/revisions/deploy',
        { application_ref: { slug: 'nobody' }, environment_ref: { slug: 'staging' } },
      ],
      ['/workflows/revisions/commit', { workflow_revision: { workflow_variant_id: NOBODY, data: {} } }],
    ] as const) {
      const { status, body: problem } = await service.post(path, body)
      expect([status, typeof problem.detail], path).to.deep.equal([404, 'string'])
    }
  })

  it('lists, in the body and in the query string, by author too', async () => {
    const listed = await post('/applications/query', {
      application: { flags: {}, folder_id: null },
      application_refs: null,
      include_archived: null,
      windowing: { limit: 10, order: 'descending', next: null, interval: null, rate: null },
    })
    expect(listed.applications.map((it: Found) => it.slug)).to.deep.equal(['greeter'])
    const byVariant = await post('/workflows/revisions/query', {
      workflow_variant_refs: [{ id: variant.id }],
      windowing: {},
      of_a_later_client: {},
    })
    expect(byVariant.workflow_revisions.map((it: Found) => it.version)).to.deep.equal(['2', '1'])
    const byAuthor = { application_revision: { authors: [first.author.toUpperCase()] } }
    expect((await post('/applications/revisions/query', byAuthor)).count).to.equal(2)
    const stranger = { application_revision: { author: NOBODY } }
    expect((await post('/applications/revisions/query', stranger)).count).to.equal(0)
    const inQuery = await post(`/applications/query?application_slug=greeter&limit=5&of_a_later_client=1`)
    expect(inQuery.count).to.equal(1)
  })

  it('logs and forks', async () => {
    const { workflow_revisions: log } = await post('/workflows/revisions/log', {
      workflow_revisions: { workflow_variant_id: variant.id, depth: 5, other: 1 },
    })
    expect(log.map((it: Found) => it.version)).to.deep.equal(['2', '1'])
    const fork = await post(`/applications/variants/fork?application_variant_id=${variant.id}`, {
      application_variant: { slug: 'greeter.warm', name: 'warm', flags: null },
      application_variant_ref: { id: variant.id },
      application_revision_ref: { version: '2' },
    })
    expect(fork.application_variant).to.include({ slug: 'greeter.warm', application_id: app.id })
  })

  it('makes a testset, uploads one, edits and reads it', async () => {
    const rows = [{ data: { country: 'Norway', capital: 'Oslo' }, flags: null, tags: null, meta: null }]
    testset = (await post('/simple/testsets/', { testset: { slug: 'capitals', data: { testcases: rows } } }))
      .testset
    expect(testset.data.testcases[0].data).to.include({ country: 'Norway' })
    const edit = {
      testset: {
        ...testset,
        name: 'Capitals',
        data: { testcases: [...testset.data.testcases, { data: { country: 'Peru', capital: 'Lima' } }] },
      },
    }
    const edited = await ok(service.put(`/simple/testsets/${testset.id}`, edit))
    expect([edited.testset.name, edited.testset.data.testcases.length]).to.deep.equal(['Capitals', 2])
    const file = uploadFormOf('country,capital\nPeru,Lima\n', {
      file_type: 'csv',
      testset_slug: 'uploaded',
      testset_name: 'Uploaded',
      testset_tags: '',
      of_a_later_client: '1',
    })
    const uploaded = await ok(service.call('POST', '/simple/testsets/upload', file))
    const { testset_revision: revision } = await post('/testsets/revisions/retrieve', {
      testset_ref: { id: uploaded.testset.id },
      testset_revision_ref: null,
      include_testcases: null,
    })
    expect([revision.version, revision.data.testcases.length]).to.deep.equal(['1', 1])
    expect(revision.author).to.match(UUID)
    const cases = await post('/testcases/query', { testset_id: testset.id, windowing: { limit: 10 } })
    expect(cases.count).to.equal(2)
  })

  it('commits a delta to it', async () => {
    const { testset_revision: revision } = await post('/testsets/revisions/commit', {
      testset_revision: {
        testset_id: testset.id,
        testset_variant_id: null,
        delta: { rows: { add: [{ data: { country: 'Chile', capital: 'Santiago' } }] } },
      },
    })
    expect([revision.version, revision.data.testcases.length]).to.deep.equal(['3', 3])
  })

  it('makes an evaluator', async () => {
    const { evaluator } = await post('/simple/evaluators/', {
      evaluator: {
        slug: 'exact',
        name: 'Exact',
        flags: { is_custom: false, is_evaluator: true },
        data: { uri: 'svc:builtin:auto_exact_match:v0', parameters: { correct_answer_key: 'capital' } },
      },
    })
    expect(evaluator.flags).to.include({ is_evaluator: true, is_match: false })
    expect(
      (await post('/simple/evaluators/query', { evaluator: { flags: { is_custom: false } } })).count,
    ).to.equal(1)
    const templates = await ok(service.get('/simple/evaluators/templates?include_archived=false'))
    expect(templates.count).to.be.above(5)
  })

  it('invokes the deployed application with an envelope of its own', async () => {
    const reply = await service.post('/services/invoke?project_id=x', {
      version: '2025.07.14',
      session_id: 's',
      flags: { stream: false },
      tags: {},
      meta: {},
      references: { application: { slug: 'exact' }, application_revision: null },
      secrets: null,
      credentials: null,
      data: { inputs: { capital: 'Oslo' }, outputs: 'Oslo', parameters: null, revision: null, trace: null },
      of_a_later_client: 1,
    })
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.data.outputs.success).to.equal(true)
  })

  it('edits, archives and brings back', async () => {
    const edited = await ok(
      service.put(`/applications/${app.id}`, { application: { ...app, name: 'Greets' } }),
    )
    expect(edited.application.name).to.equal('Greets')
    const archived = (await post(`/applications/${app.id}/archive`)).application
    expect(archived.deleted_by_id).to.match(UUID)
    expect((await post('/applications/query', {})).count).to.equal(0)
    expect((await post('/applications/query', { include_archived: true })).count).to.equal(1)
    expect(
      (await post(`/simple/applications/${app.id}/unarchive`, { any: 'body' })).application.slug,
    ).to.equal('greeter')
  })

  // interface 2.30
  it('reads the problems of a 422 in its detail', async () => {
    const { status, body } = await service.post('/workflows/', { workflow: { slug: 'two words' } })
    expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
    expect(body.detail).to.deep.equal(body.errors)
    expect(body.detail[0]).to.have.keys('loc', 'msg', 'type')
    expect(body.detail[0].loc).to.deep.equal(['body', 'workflow', 'slug'])
    const noErrors = await service.post(
      '/workflows/revisions/commit',
      '{"workflow_revision": {"slug": 1, "slug": 2}}',
    )
    expect(noErrors.status).to.equal(422)
    expect(noErrors.body.detail[0]).to.have.keys('loc', 'msg', 'type')
  })

  // interface 2.30
  it('is answered 200 where it edits what never changes, and removes what is not there', async () => {
    const record = { ...app, slug: 'another', created_at: '2020-01-01T00:00:00Z', of_a_later_client: 1 }
    const { application } = await ok(service.put(`/applications/${app.id}`, { application: record }))
    expect([application.slug, application.created_at]).to.deep.equal(['greeter', app.created_at])
    await post('/applications/', {
      application: { slug: 'made-when', created_at: '2020-01-01T00:00:00Z', git_url: 'x' },
    })
    const remove = (member: string, key: string, delta: object) =>
      post(`/${member}s/revisions/commit`, { [`${member}_revision`]: { ...key_(member, key), delta } })
    const key_ = (member: string, slug: string) => ({ [`${member}_variant_ref`]: { slug } })
    await post('/simple/workflows/', { workflow: { slug: 'gone', data: { parameters: {} } } })
    await remove('workflow', 'gone', { remove: ['parameters.none'] })
    await post('/simple/environments/', { environment: { slug: 'gone', data: { references: {} } } })
    await remove('environment', 'gone', { remove: ['none.revision'] })
    await post('/simple/testsets/', { testset: { slug: 'gone', data: { testcases: [{ data: { a: 1 } }] } } })
    await remove('testset', 'gone', {
      columns: { remove: ['none'], replace: [['none', 'b']] },
      rows: { remove: [NOBODY] },
    })
  })

  // interface 2.30, 8.14
  it('is answered 200 to deltas of which parts do nothing, and removing beats what is beside it', async () => {
    const rows = [{ data: { a: 1, b: 2 } }, { data: { a: 3, b: 4 } }]
    const { testset } = await post('/simple/testsets/', {
      testset: { slug: 'idle', data: { testcases: rows } },
    })
    const commit = async (delta: object): Promise<Found[]> => {
      const fields = { testset_revision_commit: { testset_id: testset.id, delta } }
      const { testset_revision: revision } = await post('/testsets/revisions/commit', fields)
      return revision.data.testcases.map(({ data }: Found) => {
        const { testcase_dedup_id: _, ...content } = data
        return content
      })
    }
    const [one] = testset.data.testcase_ids ?? testset.data.testcases.map(({ id }: Found) => id)
    expect(
      await commit({ rows: { remove: [one, one], replace: [{ id: one, data: { a: 'edited' } }] } }),
    ).to.deep.equal([{ a: 3, b: 4 }])
    expect(
      await commit({
        columns: {
          add: ['b', 'c', 'c'],
          remove: ['a', 'a'],
          replace: [
            ['a', 'd'],
            ['b', 'b'],
          ],
        },
      }),
    ).to.deep.equal([{ b: 4, c: '' }])
  })

  it('sends testcases with keys of their own, in a create, a commit and a delta', async () => {
    const testcases = [{ data: { q: 1 }, testcase_name: 'One', set_slug: null }]
    const { testset: own } = await post('/simple/testsets/', {
      testset: { slug: 'own-keys', data: { testcases } },
    })
    expect(own.data.testcases[0].data).to.include({ q: 1 })
    const commit = (fields: object) =>
      post('/testsets/revisions/commit', { testset_revision_commit: { testset_id: own.id, ...fields } })
    const { testset_revision: second } = await commit({ data: { testcases } })
    expect(second.data.testcases[0]).to.not.have.property('testcase_name')
    const rows = {
      add: [{ data: { q: 2 }, position: 7 }],
      replace: [{ id: second.data.testcase_ids[0], data: { q: 3 }, position: 8 }],
    }
    const { testset_revision: third } = await commit({ delta: { rows } })
    expect(third.data.testcases.map(({ data }: Found) => data.q)).to.deep.equal([3, 2])
  })

  it('still has unknown keys of data refused', async () => {
    const commit = { workflow_variant_id: variant.id, data: { paramters: {} } }
    const { status, body } = await service.post('/workflows/revisions/commit', { workflow_revision: commit })
    expect([status, body.code]).to.deep.equal([422, 'unknown_field'])
    expect(body.detail[0].msg).to.include('did you mean parameters?')
  })

  // interface 2.30
  it('shows one author as one id, everywhere', async () => {
    const { provenance } = await ok(service.get(`/applications/revisions/${first.id}/provenance`))
    expect(provenance.author).to.equal(first.author)
    const { body } = await service.get('/openapi.json')
    expect(body.paths).to.include.keys('/workflows/query')
  })
})

describe('without COMPAT', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('what is not found is 404, a detail is a sentence, and an author is a name', async () => {
    expect((await service.get(`/workflows/${NOBODY}`)).status).to.equal(404)
    const { body } = await service.post('/workflows', { workflow: { slug: 'two words' } })
    expect(body.detail).to.be.a('string')
    const made = await service.post('/simple/workflows', { workflow: { slug: 'w', data: {} } })
    const { workflow } = made.body
    const revision = (await service.get(`/workflows/revisions/${workflow.revision_id}`)).body
      .workflow_revision
    expect([revision.version, revision.author]).to.deep.equal([1, 'admin <admin@branchpoint.local>'])
  })
})
