import { expect } from 'chai'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'

describe('unknown fields: typos', () => {
  let service: RunningService
  let made: Readonly<Record<'id' | 'variant_id' | 'revision_id', string>>
  before(async () => {
    service = await startService()
    const body = { application: { slug: 'bot', data: { parameters: { a: 1 } } } }
    made = (await service.post('/simple/applications', body)).body.application
  })
  after(() => service.stop())

  const typos: readonly (readonly [string, () => string, () => unknown, string, string])[] = [
    [
      'POST',
      () => '/applications',
      () => ({ application: { slug: 't', dta: {} } }),
      'body.application.dta',
      'data',
    ],
    [
      'POST',
      () => '/simple/applications',
      () => ({ application: { slug: 't', dta: {} } }),
      'body.application.dta',
      'data',
    ],
    [
      'POST',
      () => '/applications/query',
      () => ({ applicaton: { slug: 'bot' } }),
      'body.applicaton',
      'application',
    ],
    ['POST', () => '/workflows/query', () => ({ windowing: { limt: 1 } }), 'body.windowing.limt', 'limit'],
    [
      'POST',
      () => '/workflows/query',
      () => ({ workflow: { flags: { is_aplication: true } } }),
      'body.workflow.flags.is_aplication',
      'is_application',
    ],
    [
      'POST',
      () => '/workflows/revisions/retrieve',
      () => ({ workflow_ref: { slgu: 'bot' } }),
      'body.workflow_ref.slgu',
      'slug',
    ],
    [
      'POST',
      () => '/workflows/revisions/retrieve',
      () => ({ workflow_ref: { slug: 'bot' }, environment: { slug: 'production' } }),
      'body.environment',
      'environment_ref',
    ],
    [
      'GET',
      () => '/workflows/revisions/retrieve?workflow_ref.slug=bot&workflow_ref.vresion=1',
      () => undefined,
      'query.workflow_ref.vresion',
      'version',
    ],
    [
      'POST',
      () => '/workflows/query?incldue_archived=true',
      () => ({}),
      'query.incldue_archived',
      'include_archived',
    ],
    [
      'POST',
      () => '/services/invoke',
      () => ({ references: { application: { slgu: 'bot' } } }),
      'body.references.application.slgu',
      'slug',
    ],
    ['POST', () => '/services/invoke', () => ({ dtaa: { inputs: {} } }), 'body.dtaa', 'data'],
    [
      'POST',
      () => '/variants/fork',
      () => ({ workflow_variant: { slug: 'x', nmae: 'X' }, workflow_variant_ref: { slug: 'bot' } }),
      'body.workflow_variant.nmae',
      'name',
    ],
    [
      'POST',
      () => '/workflows/revisions/commit',
      () => ({ workflow_revision: { variant_id: made.variant_id, mesage: 'x', data: {} } }),
      'body.workflow_revision.mesage',
      'message',
    ],
    [
      'POST',
      () => '/workflows/revisions/commit',
      () => ({ workflow_revision: { variant_id: made.variant_id, data: { paramters: {} } } }),
      'body.workflow_revision.data.paramters',
      'parameters',
    ],
    [
      'POST',
      () => '/workflows/revisions/commit',
      () => ({ workflow_revision: { variant_id: made.variant_id, delta: { set: {}, remov: [] } } }),
      'body.workflow_revision.delta.remov',
      'remove',
    ],
    [
      'PUT',
      () => `/workflows/${made.id}`,
      () => ({ workflow: { descripton: 'x' } }),
      'body.workflow.descripton',
      'description',
    ],
  ]
  for (const [method, path, body, place, meant] of typos) {
    // interface 2.10
    it(`${place} is refused: did you mean ${meant}?`, async () => {
      const { status, body: problem, text } = await service.call(method, path(), body())
      expect([status, problem.code], text).to.deep.equal([422, 'unknown_field'])
      expect(problem.errors.map(({ loc }: { loc: string[] }) => loc.join('.'))).to.include(place)
      expect(problem.detail).to.include(`${place}: `).and.to.include(`did you mean ${meant}?`)
    })
  }

  it('what is near nothing is answered with what there is', async () => {
    const { body } = await service.post('/workflows/query', { unknown: 1 })
    expect(body.detail).to.include('body.unknown: there is no field "unknown" here; there are workflow, ')
    const got = await service.get(`/workflows/${made.id}?environment=production`)
    expect([got.status, got.body.code]).to.deep.equal([422, 'unknown_field'])
    expect(got.body.detail).to.include('query.environment: ').and.to.include('leave it out, there are none')
  })

  it('data of an artifact, and an id in a record, are told where they belong', async () => {
    const data = await service.post('/applications', { application: { slug: 't', data: {} } })
    expect(data.body.code).to.equal('unknown_field')
    expect(data.body.detail).to.include('/simple/applications')
    const id = await service.post('/applications', { application: { slug: 't', id: made.id } })
    expect(id.body.detail).to.include('?application_id=')
  })

  it('every unknown field is named at once, beside what else is wrong', async () => {
    const { body } = await service.post('/workflows', {
      wrkflow: {},
      x: 1,
      workflow: { slug: 'a b', nmae: 'A' },
    })
    expect(body.code).to.equal('unknown_field')
    expect(body.errors.map(({ loc }: { loc: string[] }) => loc.join('.'))).to.deep.equal([
      'body.wrkflow',
      'body.x',
      'body.workflow.nmae',
      'body.workflow.slug',
    ])
  })

  // interface 2.13
  it('null is absent, but not in an edit', async () => {
    const body = {
      nothing: null,
      workflow: { none: null, flags: { is_nothing: null } },
      workflow_refs: [{ x: null }],
    }
    expect((await service.post('/workflows/query', body)).status).to.equal(200)
    const edit = await service.put(`/workflows/${made.id}`, { workflow: { none: null } })
    expect([edit.status, edit.body.code]).to.deep.equal([422, 'unknown_field'])
  })

  // interface 2.12
  it('a record that was answered can be sent back with what is changed in it', async () => {
    const { body: flat } = await service.get(`/simple/applications/${made.id}`)
    const edited = { application: { ...flat.application, name: 'Bot' } }
    expect((await service.put(`/simple/applications/${made.id}`, edited)).status).to.equal(200)
    const { body: artifact } = await service.get(`/workflows/${made.id}`)
    expect((await service.put(`/workflows/${made.id}`, { workflow: artifact.workflow })).status).to.equal(200)
    const { body: variant } = await service.get(`/workflows/variants/${made.variant_id}`)
    const { workflow_variant: variantRecord } = variant
    expect(
      (await service.put(`/workflows/variants/${made.variant_id}`, { workflow_variant: variantRecord }))
        .status,
    ).to.equal(200)
    const { body: revision } = await service.get(`/applications/revisions/${made.revision_id}`)
    const { slug: _slug, ...record } = revision.application_revision
    const commit = { application_revision_commit: { ...record, data: { parameters: { a: 2 } } } }
    expect((await service.post('/applications/revisions/commit', commit)).status).to.equal(200)
  })
})
