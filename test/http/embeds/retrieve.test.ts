import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { type EmbedClient, type MadeArtifact, ok, startEmbeds, WORKFLOW_SURFACES } from './embed-client.ts'

const TOKEN = '@{{workflow.slug=tone, path=voice}}'
const NOTHING_DONE = { references_used: [], depth_reached: 0, embeds_resolved: 0, errors: [] }
const ONE_DONE = {
  ...{ references_used: [{ workflow: { slug: 'tone' } }], depth_reached: 1, embeds_resolved: 1, errors: [] },
}

describe('embeds: retrieve with resolve', () => {
  let client: EmbedClient
  let host: MadeArtifact
  let tone: MadeArtifact
  before(async () => {
    client = await startEmbeds()
    tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    host = await client.snippet({ t: TOKEN }, { slug: 'host', of: 'application' })
    await client.deploy('prod', { workflow_ref: { id: host.id } })
  })
  after(() => client.stop())

  const post = (body: object, surface = 'workflow', headers?: Record<string, string>) =>
    client.service.post(`/${surface}s/revisions/retrieve`, body, headers)
  const get = (query: string, surface = 'workflow', headers?: Record<string, string>) =>
    client.service.get(`/${surface}s/revisions/retrieve?${query}`, headers)

  const THROUGH = { environment_ref: { slug: 'prod' }, key: 'host.revision' }
  const THROUGH_QUERY = 'environment_ref.slug=prod&key=host.revision'

  for (const surface of WORKFLOW_SURFACES) {
    it(`${surface}: true resolves, directly and through an environment, by POST and by GET`, async () => {
      for (const reply of [
        post({ [`${surface}_ref`]: { slug: 'host' }, resolve: true }, surface),
        get(`${surface}_ref.slug=host&resolve=true`, surface),
        post({ ...THROUGH, resolve: true }, surface),
        get(`${THROUGH_QUERY}&resolve=true`, surface),
      ]) {
        const body = await ok(reply)
        expect(body[`${surface}_revision`].data).to.deep.equal({ parameters: { t: 'calm' } })
        expect(body.resolution_info).to.deep.equal(ONE_DONE)
        expect(body.retrieval_info.references[surface]).to.deep.equal({ id: host.id, slug: 'host' })
      }
    })

    it(`${surface}: absent, null or false gives the tokens, and no resolution_info`, async () => {
      for (const reply of [
        ...[undefined, null, false].flatMap((resolve) => [
          post({ [`${surface}_ref`]: { slug: 'host' }, resolve }, surface),
          post({ ...THROUGH, resolve }, surface),
        ]),
        get(`${surface}_ref.slug=host`, surface),
        get(`${surface}_ref.slug=host&resolve=false`, surface),
        get(THROUGH_QUERY, surface),
      ]) {
        const body = await ok(reply)
        expect(body[`${surface}_revision`].data).to.deep.equal({ parameters: { t: TOKEN } })
        expect(body).to.have.all.keys('count', `${surface}_revision`, 'retrieval_info')
      }
    })
  }

  it('what is resolved differs from what is not in data and resolution_info only', async () => {
    for (const references of [{ workflow_ref: { slug: 'host' } }, THROUGH]) {
      const raw = await ok(post(references))
      const resolved = await ok(post({ ...references, resolve: true }))
      expect(resolved).to.deep.equal({
        ...raw,
        workflow_revision: { ...raw.workflow_revision, data: { parameters: { t: 'calm' } } },
        resolution_info: ONE_DONE,
      })
    }
  })

  it('data without tokens comes as it is, with nothing done; environments too', async () => {
    const plain = await ok(post({ workflow_ref: { slug: 'tone' }, resolve: true }))
    expect(plain.workflow_revision.data).to.deep.equal({ parameters: { voice: 'calm' } })
    expect(plain.resolution_info).to.deep.equal(NOTHING_DONE)
    const raw = await ok(post({ environment_ref: { slug: 'prod' } }, 'environment'))
    expect(raw).to.not.have.property('resolution_info')
    for (const reply of [
      post({ environment_ref: { slug: 'prod' }, resolve: true }, 'environment'),
      get('environment_ref.slug=prod&resolve=true', 'environment'),
    ])
      expect(await ok(reply)).to.deep.equal({ ...raw, resolution_info: NOTHING_DONE })
  })

  it('is true or false and nothing else', async () => {
    expectRefusal(await post({ resolve: 'true' }), 422, 'invalid_request', 'body.resolve')
    expectRefusal(await get('workflow_ref.slug=host&resolve=yes'), 422, 'invalid_request', 'query.resolve')
  })

  it('fails as resolve does, on every workflow surface', async () => {
    await client.snippet({ t: '@{{workflow.slug=gone}}' }, { slug: 'broken' })
    for (const surface of WORKFLOW_SURFACES) {
      const body = { [`${surface}_ref`]: { slug: 'broken' } }
      await ok(post(body, surface))
      const refused = await post({ ...body, resolve: true }, surface)
      expectRefusal(refused, 404, 'embed_not_found', 'data.parameters.t', 'gone')
      const resolved = await client.resolve(body, surface)
      expect(refused.body).to.deep.equal(resolved.body)
    }
  })

  it('testsets and queries know no resolve: they answer as without it', async () => {
    for (const [kind, data] of [
      ['testset', { testcases: [{ data: { t: TOKEN } }] }],
      ['query', { filtering: { conditions: [{ field: 'name', operator: 'is', value: TOKEN }] } }],
    ] as const) {
      const plural = kind === 'query' ? 'queries' : 'testsets'
      const made = await ok(
        client.service.post(`/simple/${plural}/`, { [kind]: { slug: `plain-${kind}`, data } }),
      )
      const path = `/${plural}/revisions/retrieve`
      const id = made[kind].id
      const raw = await client.service.post(path, { [`${kind}_ref`]: { id } })
      expect(raw.text).to.include(TOKEN)
      for (const reply of [
        await client.service.post(path, { [`${kind}_ref`]: { id }, resolve: true }),
        await client.service.get(`${path}?${kind}_ref.id=${id}&resolve=true`),
      ]) {
        expect([reply.status, reply.text]).to.deep.equal([200, raw.text])
        expect(reply.headers.get('etag')).to.equal(raw.headers.get('etag'))
      }
      const none = await client.service.post(`/${plural}/revisions/resolve`, { [`${kind}_ref`]: { id } })
      expect(none.status, none.text).to.be.oneOf([404, 405])
    }
  })

  it('its ETag is the revision’s and the answer’s: the same until what it embeds moves', async () => {
    const asked = [
      (etag?: string) => get('workflow_ref.slug=host&resolve=true', 'workflow', ifNone(etag)),
      (etag?: string) => post({ ...THROUGH, resolve: true }, 'workflow', ifNone(etag)),
      (etag?: string) =>
        client.service.post('/workflows/revisions/resolve', { workflow_ref: { slug: 'host' } }, ifNone(etag)),
    ]
    const raw = (await get('workflow_ref.slug=host')).headers.get('etag')
    const before: string[] = []
    for (const ask of asked) {
      const { status, headers } = await ask()
      const etag = headers.get('etag') ?? ''
      expect([status, etag.slice(0, 38)]).to.deep.equal([200, `"${host.revisionId}.`])
      expect(headers.get('cache-control')).to.equal('private, no-cache')
      expect(etag).to.not.equal(raw)
      for (const same of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await ask(same)
        expect([again.status, again.text, again.headers.get('etag')]).to.deep.equal([304, '', etag])
      }
      expect((await ask(raw ?? '')).status).to.equal(200)
      before.push(etag)
    }
    await client.snippet({ other: 1 })
    for (const [n, ask] of asked.entries()) expect((await ask(before[n])).status).to.equal(304)

    await client.commit(tone, { parameters: { voice: 'cross' } })
    for (const [n, ask] of asked.entries()) {
      const { status, headers, body } = await ask(before[n])
      expect(status).to.equal(200)
      expect(body.workflow_revision.data.parameters).to.deep.equal({ t: 'cross' })
      const etag = headers.get('etag')
      expect(etag).to.not.equal(before[n])
      expect(etag?.slice(0, 38)).to.equal(`"${host.revisionId}.`)
    }
    const unmoved = await get('workflow_ref.slug=host', 'workflow', ifNone(raw ?? ''))
    expect(unmoved.status).to.equal(304)

    await client.commit(tone, { parameters: { voice: 'calm' } })
    for (const [n, ask] of asked.entries()) expect((await ask(before[n])).status).to.equal(304)
  })
})

function ifNone(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { 'if-none-match': etag }
}
