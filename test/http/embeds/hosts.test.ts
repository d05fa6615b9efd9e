import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { embed, type EmbedClient, type MadeArtifact, ok, startEmbeds } from './embed-client.ts'

const UNKNOWN = '0190a000-0000-7000-8000-000000000001'

describe('embeds: which revision resolve answers', () => {
  let client: EmbedClient
  let host: MadeArtifact
  let second: any
  let forked: any
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const data = (n: number) => ({ parameters: { n, voice: '@{{workflow.slug=tone, path=voice}}' } })
    host = await client.make(data(1), { slug: 'host' })
    second = await client.commit(host, data(2), { slug: 'second' })
    const variant = await client.fork(host, 'side')
    forked = await client.commit({ ...host, variantId: variant.id }, data(3))
    await client.deploy('prod', { workflow_revision_ref: { id: host.revisionId } })
    await client.deploy('prod', { workflow_revision_ref: { id: second.id }, key: 'newer' })
  })
  after(() => client.stop())

  const parametersOf = async (references: object): Promise<unknown> => {
    const body = await ok(client.resolve(references))
    expect(body.count).to.equal(1)
    return body.workflow_revision.data.parameters
  }

  // interface 10.1
  it('any kind of reference, the most specific one of several', async () => {
    const first = { id: host.revisionId }
    for (const [references, n] of [
      [{ workflow_ref: { id: host.id } }, 2],
      [{ workflow_ref: { slug: 'host' } }, 2],
      [{ workflow_ref: { slug: 'host', version: 1 } }, 1],
      [{ workflow_variant_ref: { id: host.variantId } }, 2],
      [{ workflow_variant_ref: { slug: 'side' } }, 3],
      [{ workflow_variant_ref: { slug: 'side', version: '1' } }, 1],
      [{ workflow_revision_ref: first }, 1],
      [{ workflow_revision_ref: { slug: 'second' } }, 2],
      [{ workflow_revision_ref: { slug: 'side-3' } }, 3],
      [{ workflow_revision_ref: { slug: 'host', version: 1 } }, 1],
      [{ workflow_revision_ref: { version: '1' }, workflow_ref: { slug: 'host' } }, 1],
      [{ workflow_revision_ref: first, workflow_variant_ref: { slug: 'side' } }, 1],
      [{ workflow_variant_ref: { slug: 'side' }, environment_ref: { slug: 'prod' }, key: 'newer' }, 3],
      [{ application_revision_ref: first, workflow_revision: null, max_depth: null }, 1],
    ] as const) {
      expect(await parametersOf(references), JSON.stringify(references)).to.deep.equal({ n, voice: 'calm' })
    }
    expect(forked.version).to.equal(3)
  })

  it('what an environment has deployed, by artifact or by key, now or at a version of it', async () => {
    for (const [references, n, key, version] of [
      [{ environment_ref: { slug: 'prod' }, workflow_ref: { slug: 'host' } }, 1, 'host.revision', 2],
      [{ environment_ref: { slug: 'prod' }, key: 'newer' }, 2, 'newer', 2],
      [{ environment_revision_ref: { slug: 'prod', version: 1 } }, 1, 'host.revision', 1],
    ] as const) {
      const body = await ok(client.resolve(references))
      expect(body.workflow_revision.data.parameters).to.deep.equal({ n, voice: 'calm' })
      const { references: told, selector } = body.retrieval_info
      expect(told.environment_revision).to.include({ slug: `prod-${version}`, version })
      expect(selector).to.deep.equal({ key })
    }
  })

  // interface 10.6
  it('an archived host, and one that embeds what is archived', async () => {
    const snippet = await client.snippet({ voice: 'old' }, { slug: 'old' })
    const outdated = await client.snippet({
      voice: embed({ workflow: { slug: 'old' } }, { path: 'parameters.voice' }),
    })
    await client.archive(`/workflows/${snippet.id}`)
    await client.archive(`/workflows/${outdated.id}`)
    expect(await parametersOf({ workflow_ref: { id: outdated.id } })).to.deep.equal({ voice: 'old' })
    expect(await parametersOf({ workflow_revision_ref: { id: outdated.revisionId } })).to.deep.equal({
      voice: 'old',
    })
  })

  it('a host without data has nothing to resolve', async () => {
    const { workflow } = await ok(client.service.post('/workflows/', { workflow: { slug: 'empty' } }))
    const { workflow_variant: variant } = await ok(
      client.service.post('/workflows/variants/', { workflow_variant: { workflow_id: workflow.id } }),
    )
    expectRefusal(
      await client.resolve({ workflow_ref: { slug: 'empty' } }),
      404,
      'revision_not_found',
      'empty',
    )
    await ok(
      client.service.post('/workflows/revisions/', {
        workflow_revision: { workflow_variant_id: variant.id },
      }),
    )
    const body = await ok(client.resolve({ workflow_ref: { slug: 'empty' } }))
    expect(body.workflow_revision).to.include({ version: 1, slug: 'empty-1' }).and.not.have.property('data')
    expect(body.resolution_info).to.deep.equal({
      references_used: [],
      depth_reached: 0,
      embeds_resolved: 0,
      errors: [],
    })
  })

  it('what is not there is 404, what names nothing is 400', async () => {
    for (const [references, status, code, word] of [
      [{}, 400, 'incomplete_reference', 'workflow_ref'],
      [{ workflow_revision_ref: { version: '1' } }, 400, 'incomplete_reference', 'workflow_revision_ref'],
      [{ workflow_variant_ref: { version: 1 } }, 400, 'incomplete_reference', 'workflow_variant_ref'],
      [{ workflow_ref: {} }, 400, 'incomplete_reference', 'workflow_ref'],
      [{ key: 'newer' }, 400, 'incomplete_reference', 'environment_ref'],
      [{ environment_ref: { slug: 'prod' } }, 400, 'incomplete_reference', 'newer'],
      [{ environment_ref: { slug: 'prod' }, key: 'gone' }, 404, 'deployment_not_found', 'gone'],
      [{ environment_ref: { slug: 'gone' }, key: 'newer' }, 404, 'environment_not_found', 'gone'],
      [{ workflow_ref: { slug: 'gone' } }, 404, 'artifact_not_found', 'gone'],
      [{ workflow_ref: { id: UNKNOWN } }, 404, 'artifact_not_found', UNKNOWN],
      [{ workflow_variant_ref: { slug: 'gone' } }, 404, 'variant_not_found', 'gone'],
      [{ workflow_revision_ref: { slug: 'host', version: 9 } }, 404, 'revision_not_found', '9'],
      [{ workflow_ref: { id: 'x' } }, 422, 'invalid_request', 'body.workflow_ref.id'],
      [{ workflow_ref: { slug: '../x' } }, 422, 'invalid_request', 'body.workflow_ref.slug'],
    ] as const) {
      expectRefusal(await client.resolve(references), status, code, word)
    }
  })
})

describe('embeds: data that the request brings', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
  })
  after(() => client.stop())

  // interface 10.14
  it('with parameters alone, it is answered with what it said of itself and no more', async () => {
    const bring = { id: UNKNOWN, slug: 'mine', version: '3', name: 'Mine', message: 'Hello' }
    const parameters = { voice: '@{{workflow.slug=tone, path=voice}}' }
    for (const surface of ['workflow', 'application', 'evaluator'] as const) {
      const body = await ok(
        client.resolve({ [`${surface}_revision`]: { ...bring, data: { parameters } } }, surface),
      )
      expect(body).to.have.all.keys('count', `${surface}_revision`, 'resolution_info')
      expect(body[`${surface}_revision`]).to.deep.equal({
        id: UNKNOWN,
        slug: 'mine',
        version: 3,
        data: { parameters: { voice: 'calm' } },
      })
    }
  })

  it('wins over references, whichever workflow surface it is named after', async () => {
    const body = await ok(
      client.resolve(
        { workflow_revision: { data: { parameters: { n: 1 } } }, application_ref: { slug: 'gone' } },
        'application',
      ),
    )
    expect(body.application_revision).to.deep.equal({ data: { parameters: { n: 1 } } })
  })

  it('must be there, and be what the family takes', async () => {
    const bad = async (surface: 'workflow' | 'environment', revision: object) =>
      client.resolve({ [`${surface}_revision`]: revision }, surface)
    for (const revision of [{}, { id: UNKNOWN }, { data: null }])
      expectRefusal(await bad('workflow', revision), 400, 'missing_payload', 'body.workflow_revision', 'data')
    for (const [revision, loc] of [
      [{ data: { parameters: 'x' } }, 'body.workflow_revision.data.parameters'],
      [{ data: [] }, 'body.workflow_revision.data'],
      [{ id: 'x', data: {} }, 'body.workflow_revision.id'],
      [{ slug: 'a b', data: {} }, 'body.workflow_revision.slug'],
      [{ version: 0, data: {} }, 'body.workflow_revision.version'],
    ] as const) {
      const reply = await bad('workflow', revision)
      expectRefusal(reply, 422, 'invalid_request', loc)
    }
    const elsewhere = embed({ workflow: { slug: 'tone' } })
    for (const [revision, loc] of [
      [{ data: { parameters: {}, prompt: 'x' } }, 'body.workflow_revision.data.prompt'],
      [elsewhere, 'body.workflow_revision.@svc.embed'],
      [{ data: elsewhere }, 'body.workflow_revision.data.@svc.embed'],
    ] as const)
      expectRefusal(await bad('workflow', revision), 422, 'unknown_field', loc)
    expectRefusal(
      await bad('environment', { data: { references: {}, parameters: {} } }),
      422,
      'unknown_field',
      'body.environment_revision.data.parameters',
    )
  })

  it('keeps values that only look like tokens', async () => {
    const parameters = {
      tools: [{ type: 'reference', workflow: { slug: 'tone' } }],
      prompt: 'Hello {{name}}, @{{name}}, @{{testset.slug=x}} and tone@svc.embed',
      '@{{workflow.slug=tone, path=voice}}': 1,
      exact: [null, 0.5, true],
    }
    const { parameters: after, info } = await client.resolved(parameters)
    expect(after).to.deep.equal(parameters)
    expect(info.embeds_resolved).to.equal(0)
  })

  it('embeds in script, url and header values are resolved, too', async () => {
    const voice = '@{{workflow.slug=tone,path=voice}}'
    const data = {
      url: `https://example.org/${voice}`,
      headers: { 'X-Voice': `be ${voice}` },
      runtime: 'python',
      script: `VOICE = "${voice}"`,
    }
    const body = await ok(client.resolve({ workflow_revision: { data } }))
    expect(body.workflow_revision.data).to.deep.equal({
      url: 'https://example.org/calm',
      headers: { 'X-Voice': 'be calm' },
      runtime: 'python',
      script: 'VOICE = "calm"',
    })
  })

  it('that says which revision it is may not embed that', async () => {
    const self = await client.snippet({ again: '@{{workflow.slug=self, path=x}}', x: 1 }, { slug: 'self' })
    const data = { parameters: { again: '@{{workflow.slug=self, path=x}}' } }
    const anonymous = await ok(client.resolve({ workflow_revision: { data } }))
    expect(anonymous.workflow_revision.data.parameters).to.deep.equal({ again: '1' })
    expectRefusal(
      await client.resolve({ workflow_revision: { id: self.revisionId, slug: 'self-1', data } }),
      422,
      'embed_cycle',
      'self-1 -> self-1',
    )
    const nameless = await client.resolve({ workflow_revision: { id: self.revisionId.toUpperCase(), data } })
    expectRefusal(nameless, 422, 'embed_cycle', `${self.revisionId} -> self-1`)
  })
})
