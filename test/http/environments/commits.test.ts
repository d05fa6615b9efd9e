import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

const UNKNOWN = '01a1fbb1-f5c2-76ee-83de-000000000000'

describe('environments: revisions of data and deltas', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(3)
  })
  after(() => client.stop())
  beforeEach(async () => (to = await client.environment()))

  /** A group that pins a version of the application. */
  const group = (version: number): object => ({
    application: { id: bot.id, slug: bot.slug },
    application_revision: { id: bot.revisions[version - 1].id, slug: `${bot.slug}-${version}`, version },
  })
  const a = () => group(1)
  const b = () => group(2)
  const dangling = { application: { id: UNKNOWN }, application_revision: { slug: 'nowhere', version: 7 } }

  describe('data', () => {
    // interface 9.8
    it('takes the place of the whole map', async () => {
      await client.committed(to, { data: { references: { one: a(), two: b() } }, message: 'Both' })
      const next = await client.committed(to, { data: { references: { two: a() } } })
      expect(next).to.include({ version: 2 })
      expect(next.data).to.deep.equal({ references: { two: a() } })
      expect(await client.pins(to.slug)).to.deep.equal({ two: a() })
    })

    it('equal to what is there makes a revision all the same', async () => {
      await client.committed(to, { data: { references: { one: a() } } })
      expect(await client.committed(to, { data: { references: { one: a() } } })).to.include({ version: 2 })
    })

    for (const [name, data] of [
      ['{}', {}],
      ['null references', { references: null }],
      ['an empty map', { references: {} }],
    ] as const) {
      it(`${name} undeploys everything`, async () => {
        await client.committed(to, { data: { references: { one: a() } } })
        const { data: now } = await client.committed(to, { data })
        expect(now).to.deep.equal({ references: {} })
        expect(client.git(to.slug, 'show', 'HEAD:references.json')).to.equal('{}')
      })
    }

    // interface 9.9
    it('may pin what is not there, and hold empty groups', async () => {
      const references = { 'gone.revision': dangling, empty: {} }
      const { data } = await client.committed(to, { data: { references } })
      expect(data).to.deep.equal({ references })
      expectRefusal(
        await client.retrieve({ environment_ref: { slug: to.slug }, key: 'gone.revision' }),
        404,
        'deployment_not_found',
        'gone.revision',
        UNKNOWN,
      )
    })

    it('keeps keys in the order they came, __proto__ among them', async () => {
      const references = '{"z":{},"__proto__":{},"10":{},"2":{},"constructor":{"__proto__":{"version":1}}}'
      const { text } = await client.service.post(
        '/environments/revisions/commit',
        `{"environment_revision":{"environment_variant_id":"${to.variantId}","data":{"references":${references}}}}`,
      )
      expect(text).to.include(`"data":{"references":${references}}`)
    })
  })

  describe('a delta', () => {
    beforeEach(() => client.committed(to, { data: { references: { 'a.revision': a(), b: b() } } }))

    // interface 9.8
    it('sets groups, each whole, and removes keys', async () => {
      const other = { application_revision: { id: bot.revisions[2].id } }
      const delta = { set: { 'a.revision': other, c: {} }, remove: ['b'] }
      const { version, data } = await client.committed(to, { delta, message: 'Swap' })
      expect(version).to.equal(2)
      expect(data).to.deep.equal({ references: { 'a.revision': other, c: {} } })
      expect(JSON.stringify(await client.latest(to.slug))).to.not.include('delta')
    })

    // interface 2.14
    it('that removes a key which is not there is refused, and the deployment stays', async () => {
      const reply = await client.service.post('/environments/revisions/commit', {
        environment_revision: { environment_variant_id: to.variantId, delta: { remove: ['a.revison'] } },
      })
      expectRefusal(reply, 422, 'no_such_key', 'a.revison', 'did you mean "a.revision"?')
      expect((await client.latest(to.slug)).version).to.equal(1)
    })

    it('of set only keeps the others', async () => {
      await client.committed(to, { delta: { set: { c: a() } } })
      expect(await client.pins(to.slug)).to.deep.equal({ 'a.revision': a(), b: b(), c: a() })
    })

    it('of remove only keeps the others; a key in both is removed', async () => {
      await client.committed(to, { delta: { remove: ['a.revision'] } })
      expect(await client.pins(to.slug)).to.deep.equal({ b: b() })
      await client.committed(to, { delta: { set: { b: a() }, remove: ['b'] } })
      expect(await client.pins(to.slug)).to.deep.equal({})
    })

    // interface 9.8
    it('starts from the head: what was removed does not come back', async () => {
      await client.committed(to, { delta: { remove: ['a.revision', 'b'] } })
      await client.committed(to, { delta: { set: { c: a() } } })
      expect(Object.keys(await client.pins(to.slug))).to.deep.equal(['c'])
    })

    it('starts from the latest when the head was archived', async () => {
      const { id } = await client.committed(to, { delta: { remove: ['a.revision', 'b'] } })
      await client.service.post(`/environments/revisions/${id}/archive`)
      await client.committed(to, { delta: { set: { c: a() } } })
      expect(Object.keys(await client.pins(to.slug))).to.deep.equal(['a.revision', 'b', 'c'])
    })

    it('starts from nothing where there is nothing', async () => {
      const empty = await client.environment()
      const { version, data } = await client.committed(empty, {
        delta: { set: { c: a(), x: {} }, remove: ['x'] },
      })
      expect([version, data]).to.deep.equal([1, { references: { c: a() } }])
    })
  })

  describe('refused, with nothing stored:', () => {
    const refused = async (
      fields: object,
      ...expected: readonly [number, string, ...string[]]
    ): Promise<void> => {
      const before = client.refs()
      expectRefusal(await client.commit(to, fields), ...expected)
      expect(client.refs()).to.deep.equal(before)
    }
    it('both data and delta', () => refused({ data: {}, delta: {} }, 400, 'contradictory_request'))
    it('neither, where there is data', async () => {
      await client.committed(to, { data: {} })
      await refused({ message: 'Nothing' }, 400, 'missing_payload')
    })
    // interface 9.9
    it('an unknown member of data', () => refused({ data: { refs: {} } }, 422, 'unknown_field', 'refs'))
    it('an unknown member of a delta', () =>
      refused({ delta: { add: {} } }, 422, 'unknown_field', 'set, remove'))
    it('a group that is null', () => refused({ data: { references: { a: null } } }, 422, 'invalid_request'))
    it('a version that is none', () =>
      refused({ data: { references: { a: { b: { version: 0 } } } } }, 422, 'invalid_request'))
    it('a delta on a base that is not the latest', async () => {
      const base = await client.committed(to, { data: {} })
      await client.committed(to, { data: {} })
      await refused({ delta: {}, base_revision_id: base.id }, 409, 'revision_conflict')
    })
    it('a deployment of an environment', () =>
      refused({ data: {}, deploy: ['production'] }, 422, 'invalid_request', 'deploy'))
  })

  describe('the first revision without a payload', () => {
    it('is version 1 and pins nothing; another one is refused; deployments go on top', async () => {
      const first = () =>
        client.service.post('/environments/revisions/', {
          environment_revision: { environment_variant_id: to.variantId, message: 'Begin' },
        })
      const { environment_revision } = (await first()).body
      expect(environment_revision).to.include({ version: 1, message: 'Begin' })
      expect(environment_revision).to.not.have.property('data')
      expectRefusal(await first(), 409, 'revision_exists')
      expectRefusal(
        await client.retrieve({ environment_ref: { slug: to.slug }, application_ref: { id: bot.id } }),
        404,
        'deployment_not_found',
      )
      await client.deployed(to.slug, { application_ref: { id: bot.id } })
      expect(await client.latest(to.slug)).to.include({ version: 2 })
      expect(Object.keys(await client.pins(to.slug))).to.deep.equal([`${bot.slug}.revision`])
    })
  })

  it('a fork holds what its source held, and goes its own way', async () => {
    await client.committed(to, { data: { references: { one: a() } } })
    const { body } = await client.service.post('/environments/variants/fork', {
      environment_variant: { slug: `${to.slug}-fork` },
      environment_variant_ref: { id: to.variantId },
    })
    const fork = { ...to, variantId: body.environment_variant.id }
    const { version, data } = await client.committed(fork, { delta: { set: { two: b() } } })
    expect([version, Object.keys(data.references)]).to.deep.equal([2, ['one', 'two']])
    expect(Object.keys(await client.pins(to.slug))).to.deep.equal(['one'])
  })

  describe('the simple surface', () => {
    const simple = async (method: string, path: string, environment?: object): Promise<any> => {
      const body = environment && { environment }
      const reply = await client.service.call(method, `/simple/environments/${path}`, body)
      expect(reply.status, reply.text).to.equal(200)
      return reply.body.environment
    }

    it('create with data makes version 1, without data no revision', async () => {
      const made = await simple('POST', '', { data: { references: { one: a() } }, message: 'First' })
      expect(made.data).to.deep.equal({ references: { one: a() } })
      expect(await client.latest(made.slug)).to.include({
        id: made.revision_id,
        version: 1,
        message: 'First',
      })
      const empty = await simple('POST', '', { slug: 'empty' })
      expect(empty).to.include.keys('variant_id').and.not.include.keys('revision_id')
      expect(await client.latest('empty')).to.equal(undefined)
    })

    // interface 9.8
    it('PUT with data commits it, without data keeps the pins and commits nothing', async () => {
      await client.committed(to, { data: { references: { one: a() } } })
      const renamed = await simple('PUT', to.id, { name: 'Renamed', data: null })
      expect(renamed).to.deep.include({ name: 'Renamed', data: { references: { one: a() } } })
      expect(await client.latest(to.slug)).to.include({ version: 1 })
      const changed = await simple('PUT', to.id, { data: { references: { two: b() } }, message: 'Two' })
      expect(changed).to.deep.include({ name: 'Renamed', data: { references: { two: b() } } })
      expect(await client.latest(to.slug)).to.include({ version: 2, message: 'Two' })
      expect(await simple('GET', to.id)).to.deep.equal(changed)
    })

    it('PUTs with data at once to an environment without a variant make one variant', async () => {
      const { body } = await client.service.post('/environments/', { environment: { slug: 'put-at-once' } })
      await Promise.all(
        ['one', 'two', 'three'].map((key) =>
          simple('PUT', body.environment.id, { data: { references: { [key]: a() } } }),
        ),
      )
      expect(await client.latest('put-at-once')).to.include({ version: 3 })
      const heads = client.git('put-at-once', 'for-each-ref', '--format=%(refname)', 'refs/heads')
      expect(heads).to.equal('refs/heads/put-at-once')
    })

    it('a refused PUT stores neither header nor data, nor a variant', async () => {
      const { body } = await client.service.post('/environments/', { environment: {} })
      const { id } = body.environment
      const before = client.refs()
      const environment = { name: 'No', data: { references: { a: null } } }
      const reply = await client.service.put(`/simple/environments/${id}`, { environment })
      expectRefusal(reply, 422, 'invalid_request', 'references')
      expect(client.refs()).to.deep.equal(before)
    })
  })

  // interface 9.2
  it('every project starts with development, staging and production, guarded by nobody', async () => {
    const { body } = await client.service.post('/environments/query', {
      windowing: { order: 'ascending', limit: 3 },
    })
    expect(body.environments.map(({ slug, name }: any) => [slug, name])).to.deep.equal(
      ['development', 'staging', 'production'].map((slug) => [slug, slug]),
    )
  })
})
