import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'

/** What is derived from a workflow's payload, and what is left out of it (interface 7.1, 7.4, 7.5). */
export function describePayloads(client: SurfaceClient): void {
  const commit = async (data: object) => client.committed((await client.made(0)).variantId, { data })
  const base = () => `${client.service.url}/services`

  // interface 7.4
  it('the url of a managed handler is bound to the revision, and never stored', async () => {
    const { slug, variantId } = await client.made(0)
    const sent = { uri: 'svc:builtin:completion:v0', url: `${base()}/completion/v0` }
    const first = await client.committed(variantId, { data: sent })
    expect(first.data.url).to.equal(`${base()}/completion/v0/${first.id}`)
    const second = await client.committed(variantId, { data: first.data })
    expect(second.data.url).to.equal(`${base()}/completion/v0/${second.id}`)
    const third = await client.committed(variantId, { delta: { set: { url: first.data.url } } })
    expect(third.data.url).to.equal(`${base()}/completion/v0/${third.id}`)
    for (const at of [`${slug}~2`, `${slug}~1`, slug])
      expect(client.git(slug, 'show', `${at}:data.json`)).to.not.include('"url"')
  })

  // interface 7.4
  it('the url of a custom handler is likewise, and a foreign one is kept', async () => {
    const hook = await commit({ uri: 'svc:custom:hook:v0' })
    expect(hook.data.url).to.equal(`${base()}/hook/v0/${hook.id}`)
    const url = 'https://example.org/handler?x=1'
    expect((await commit({ uri: 'svc:custom:hook:v0', url })).data.url).to.equal(url)
    expect((await commit({ url })).data).to.deep.equal({ url })
  })

  // interface 7.2, 7.3
  it('no uri, no url; another provider’s uri has none either', async () => {
    expect((await commit({ parameters: {} })).data).to.deep.equal({ parameters: {} })
    expect((await commit({ uri: 'user:custom:mine:v1' })).data).to.deep.equal({ uri: 'user:custom:mine:v1' })
  })

  // interface 7.5
  it('schemas of a built-in handler are filled in where none are sent, inputs never', async () => {
    const { data } = await commit({ uri: 'svc:builtin:completion:v0' })
    expect(data.schemas).to.have.all.keys('parameters', 'outputs')
    const own = { type: 'string', title: 'Mine' }
    const kept = await commit({
      uri: 'svc:builtin:completion:v0',
      schemas: { outputs: own, inputs: { type: 'object' } },
    })
    expect(kept.data.schemas.outputs).to.deep.equal(own)
    expect(kept.data.schemas.inputs).to.deep.equal({ type: 'object' })
    expect(kept.data.schemas.parameters).to.deep.equal(data.schemas.parameters)
  })

  type Flagged = readonly [data: object, ...flags: string[]]
  const flagged: readonly Flagged[] = [
    [{ parameters: {} }],
    [{ uri: 'svc:builtin:completion:v0' }, 'is_managed', 'is_llm', 'has_url'],
    [{ uri: 'svc:builtin:chat:v0' }, 'is_managed', 'is_llm', 'is_chat', 'has_url'],
    [{ uri: 'completion' }, 'is_managed', 'is_llm', 'has_url'],
    [{ uri: 'svc:builtin:llm:v0' }, 'is_managed', 'is_llm', 'has_url'],
    [{ uri: 'svc:builtin:match:v0' }, 'is_managed', 'is_match', 'has_url'],
    [{ uri: 'svc:custom:hook:v0' }, 'is_managed', 'is_custom', 'is_hook', 'has_url'],
    [{ uri: 'svc:custom:feedback:v0' }, 'is_managed', 'is_custom', 'is_feedback', 'has_url'],
    [
      { uri: 'svc:custom:code:v0', script: 'x', runtime: 'python' },
      'is_managed',
      'is_custom',
      'is_code',
      'has_url',
      'has_script',
    ],
    [{ uri: 'user:custom:fn:latest' }, 'is_custom'],
    [{ url: 'https://example.org/h' }, 'has_url'],
    [{ schemas: { inputs: { properties: { m: { 'x-svc-type-ref': 'messages' } } } } }, 'is_chat'],
  ]
  for (const [data, ...flags] of flagged) {
    // interface 7.10, 7.11, 7.3
    it(`flags of ${JSON.stringify(data)}: ${flags.join(', ') || 'none'}`, async () => {
      const { role } = client.surface
      const revision = await commit(data)
      const set = Object.entries(revision.flags).filter(([, value]) => value)
      expect(set.map(([name]) => name)).to.have.members([...(role ? [role] : []), ...flags])
      const read = client.record(await client.get(`/revisions/${revision.id}`), '_revision')
      expect(read.flags).to.deep.equal(revision.flags)
    })
  }

  // interface 7.10
  it('flags sent with a commit are ignored; roles are the artifact’s as it is now', async () => {
    const { id, variantId } = await client.made(0)
    const sent = { data: { parameters: {} }, flags: { is_chat: true, has_url: true } }
    const revision = await client.committed(variantId, sent)
    expect([revision.flags.is_chat, revision.flags.has_url, revision.flags.is_snippet]).to.deep.equal([
      false,
      false,
      false,
    ])
    await client.put(`/${id}`, client.wrap('', { flags: { is_snippet: true } }))
    const read = client.record(await client.get(`/revisions/${revision.id}`), '_revision')
    expect(read.flags.is_snippet).to.equal(true)
  })

  // interface 7.8
  it('a literal header is accepted with a warning, one that names a secret without', async () => {
    const { variantId } = await client.made(0)
    const literal = await client.commit(variantId, { data: { headers: { 'X-Key': 'abc' } } })
    expect(literal.status, literal.text).to.equal(200)
    expect(literal.body.warnings).to.have.length(1)
    expect(literal.body.warnings[0].target).to.include('X-Key')
    const secret = await client.commit(variantId, { data: { headers: { 'X-Key': { secret: 'NAME' } } } })
    expect(secret.body).to.not.have.property('warnings')
    expect(secret.body[`${client.surface.singular}_revision`].data.headers).to.deep.equal({
      'X-Key': { secret: 'NAME' },
    })
  })

  // interface 2.13
  it('null equals absent at the top of data, and is a value below', async () => {
    const revision = await commit({ uri: null, url: null, parameters: { a: null, b: '', c: 1 } })
    expect(revision.data).to.deep.equal({ parameters: { a: null, b: '', c: 1 } })
  })

  // interface 4.4
  it('a delta sets and removes paths of the latest data', async () => {
    const { variantId } = await client.made(0)
    await client.committed(variantId, {
      data: { uri: 'user:custom:a:v1', parameters: { a: { b: 1, c: 2 }, d: [1] }, script: 's' },
    })
    const delta = {
      set: { parameters: { a: { b: null }, d: [2] }, script: null },
      remove: ['parameters.a.c'],
    }
    const { data: after, version } = await client.committed(variantId, { delta })
    expect(version).to.equal(2)
    expect(after).to.deep.equal({ uri: 'user:custom:a:v1', parameters: { a: { b: null }, d: [2] } })
  })

  it('a delta merges into an object exactly', async () => {
    const { variantId } = await client.made(0)
    const commit = (fields: string) => {
      const { singular } = client.surface
      return client.post(
        '/revisions/commit',
        `{"${singular}_revision":{"variant_id":"${variantId}",${fields}}}`,
      )
    }
    await commit('"data":{"parameters":{"2":1e400,"1":{"__proto__":0.1000000000000000055}}}')
    const { text } = await commit('"delta":{"set":{"parameters":{"1":{"constructor":12345678901234567890}}}}')
    expect(text).to.include(
      '"parameters":{"2":1e400,"1":{"__proto__":0.1000000000000000055,"constructor":12345678901234567890}}',
    )
  })
}
