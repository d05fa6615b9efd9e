import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { deployedSurfaces, startEnvironments } from './environment-client.ts'

/** A write to an environment: how it is asked, and what of it has to be there before. */
interface Write {
  readonly name: string
  readonly prepare?: () => Promise<void>
  readonly request: () => readonly [method: string, path: string, body?: object]
}

describe('environments: guard', () => {
  let client: EnvironmentClient
  let bot: Made
  /** Headers of keys that may write but not deploy, write and deploy, deploy only, and read only. */
  let writer: Record<string, string>
  let deployer: Record<string, string>
  let onlyDeployer: Record<string, string>
  let reader: Record<string, string>
  let to: MadeEnvironment
  let latestId: string
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(2)
    writer = await client.keyOf('read', 'write')
    deployer = await client.keyOf('read', 'write', 'deploy')
    onlyDeployer = await client.keyOf('deploy')
    reader = await client.keyOf('read')
  })
  after(() => client.stop())
  beforeEach(async () => {
    to = await client.environment()
    await client.deployed(to.slug, { application_revision_ref: { id: bot.revisions[0].id } })
    latestId = (await client.latest(to.slug)).id
  })

  const simple = (rest: string): string => `/simple/environments/${to.id}${rest}`
  const archive = async (path: string): Promise<void> => {
    expect((await client.service.post(`${path}/archive`)).status).to.equal(200)
  }
  const guard = async (): Promise<void> => {
    const { status, body } = await client.service.post(simple('/guard'), {}, deployer)
    expect(status).to.equal(200)
    expect(body.environment.flags).to.deep.equal({ is_guarded: true })
  }
  const revisionOf = (fields: object): object => ({
    environment_revision: { environment_variant_id: to.variantId, ...fields },
  })
  const second = (singular: string): object => ({
    [`${singular}_revision_ref`]: { id: bot.revisions[1].id },
    environment_ref: { slug: to.slug },
  })

  const writes: readonly Write[] = [
    {
      name: 'a commit of data',
      request: () => ['POST', '/environments/revisions/commit', revisionOf({ data: {} })],
    },
    {
      name: 'a commit of a delta',
      request: () => [
        'POST',
        '/environments/revisions/commit',
        revisionOf({ delta: { set: { x: {} }, remove: ['x'] } }),
      ],
    },
    {
      name: 'the first revision of another variant',
      prepare: async () => {
        const sent = { environment_id: to.id, slug: `${to.slug}-empty` }
        await client.service.post('/environments/variants/', { environment_variant: sent })
        const { body } = await client.service.post('/environments/variants/query', {
          environment_variant: { slug: sent.slug },
        })
        to = { ...to, variantId: body.environment_variants[0].id }
      },
      request: () => ['POST', '/environments/revisions/', revisionOf({ message: 'Begin' })],
    },
    {
      name: 'a new variant',
      request: () => ['POST', '/environments/variants/', { environment_variant: { environment_id: to.id } }],
    },
    {
      name: 'a fork',
      request: () => [
        'POST',
        '/environments/variants/fork',
        {
          environment_variant: {},
          environment_variant_ref: { id: to.variantId },
        },
      ],
    },
    {
      name: 'a fork under the shared path',
      request: () => [
        'POST',
        '/variants/fork',
        {
          environment_variant: {},
          environment_revision_ref: { id: latestId },
        },
      ],
    },
    {
      name: 'PUT',
      request: () => ['PUT', `/environments/${to.id}`, { environment: { name: 'Mine' } }],
    },
    {
      name: 'PUT of flags that takes the guard away',
      request: () => ['PUT', `/environments/${to.id}`, { environment: { flags: { is_guarded: false } } }],
    },
    {
      name: 'PUT of null flags',
      request: () => ['PUT', `/environments/${to.id}`, { environment: { flags: null } }],
    },
    {
      name: 'PUT of a variant',
      request: () => [
        'PUT',
        `/environments/variants/${to.variantId}`,
        { environment_variant: { name: 'M' } },
      ],
    },
    { name: 'simple PUT of a header', request: () => ['PUT', simple(''), { environment: { name: 'Mine' } }] },
    { name: 'simple PUT of data', request: () => ['PUT', simple(''), { environment: { data: {} } }] },
    {
      name: 'simple PUT of data and flags',
      request: () => ['PUT', simple(''), { environment: { data: {}, flags: { is_guarded: false } } }],
    },
    ...['archive', 'unarchive'].flatMap((action) =>
      (
        [
          ['the environment', () => `/environments/${to.id}`],
          ['the simple environment', () => simple('')],
          ['a variant', () => `/environments/variants/${to.variantId}`],
          ['a revision', () => `/environments/revisions/${latestId}`],
        ] as const
      ).map(([level, path]): Write => ({
        name: `${action} of ${level}`,
        prepare: async () => (action === 'unarchive' ? archive(path()) : undefined),
        request: () => ['POST', `${path()}/${action}`],
      })),
    ),
    ...deployedSurfaces.map(({ path, singular }): Write => ({
      name: `a deployment through /${path}`,
      request: () => ['POST', `/${path}/revisions/deploy`, second(singular)],
    })),
    {
      name: 'a deployment to a variant',
      request: () => [
        'POST',
        '/applications/revisions/deploy',
        {
          ...second('application'),
          environment_ref: undefined,
          environment_variant_ref: { id: to.variantId },
        },
      ],
    },
    {
      name: 'a deployment of what is there already',
      request: () => [
        'POST',
        '/applications/revisions/deploy',
        { environment_ref: { id: to.id }, application_revision_ref: { id: bot.revisions[0].id } },
      ],
    },
    {
      name: 'a commit that is deployed',
      request: () => [
        'POST',
        '/applications/revisions/commit',
        {
          application_revision: {
            application_variant_id: bot.variantId,
            ...client.applications.payload('n9'),
            deploy: ['production', to.slug],
          },
        },
      ],
    },
  ]

  for (const { name, prepare, request } of writes) {
    // interface 9.10, 3.4
    it(`${name}: 403 without the scope deploy and nothing stored; done with it`, async () => {
      await guard()
      await prepare?.()
      const [method, path, body] = request()
      const before = client.refs()
      const refused = await client.service.call(method, path, body, writer)
      expectRefusal(refused, 403, 'guarded', to.slug, 'deploy')
      expect(client.refs()).to.deep.equal(before)
      const done = await client.service.call(method, path, body, deployer)
      expect(done.status, done.text).to.equal(200)
    })

    it(`${name}: done without the scope where there is no guard`, async () => {
      await prepare?.()
      const [method, path, body] = request()
      const { status, text } = await client.service.call(method, path, body, writer)
      expect(status, text).to.equal(200)
    })
  }

  it('reading is for every key that may read', async () => {
    await guard()
    const through = { environment_ref: { slug: to.slug } }
    for (const path of ['/environments/revisions/retrieve', '/applications/revisions/retrieve']) {
      expect((await client.service.post(path, through, reader)).status).to.equal(200)
    }
  })

  describe('to put a guard up or take it down', () => {
    for (const action of ['guard', 'unguard']) {
      // interface 9.10
      it(`${action} needs the scope deploy, and write is not enough`, async () => {
        if (action === 'unguard') await guard()
        const before = client.refs()
        expectRefusal(await client.service.post(simple(`/${action}`), {}, writer), 403, 'missing_scope')
        expect(client.refs()).to.deep.equal(before)
        const { status, body } = await client.service.post(simple(`/${action}`), {}, onlyDeployer)
        expect(status).to.equal(200)
        expect(body.environment).to.include({ id: to.id, slug: to.slug })
        const { environment } = (await client.service.get(`/environments/${to.id}`)).body
        expect(environment.flags).to.deep.equal({ is_guarded: action === 'guard' })
      })
    }

    it('keeps the rest of the header and the pins, and does nothing twice', async () => {
      await client.service.put(`/environments/${to.id}`, { environment: { name: 'Live', tags: { a: 'b' } } })
      await guard()
      const before = client.refs()
      const { body } = await client.service.post(simple('/guard'), {}, deployer)
      expect(client.refs()).to.deep.equal(before)
      expect(body.environment).to.deep.include({ name: 'Live', tags: { a: 'b' }, revision_id: latestId })
      expect(Object.keys(body.environment.data.references)).to.deep.equal([`${bot.slug}.revision`])
    })

    it('an unknown environment is 404', async () => {
      const id = '01a1fbb1-f5c2-76ee-83de-000000000000'
      const reply = await client.service.post(`/simple/environments/${id}/guard`)
      expectRefusal(reply, 404, 'artifact_not_found', id)
    })

    // interface 9.10
    it('through flags needs the scope too, and stores nothing without it, not even the data beside them', async () => {
      const flags = { is_guarded: true }
      for (const [path, body] of [
        [`/environments/${to.id}`, { environment: { flags } }],
        [simple(''), { environment: { flags } }],
        [simple(''), { environment: { flags, data: {} } }],
      ] as const) {
        const before = client.refs()
        const refused = await client.service.call('PUT', path, body, writer)
        expectRefusal(refused, 403, 'guarded', 'would be')
        expect(client.refs()).to.deep.equal(before)
        const { status } = await client.service.call('PUT', path, body, deployer)
        expect(status).to.equal(200)
        await client.service.post(simple('/unguard'), {}, deployer)
      }
    })

    it('by creating a guarded environment needs it too', async () => {
      for (const path of ['/environments/', '/simple/environments/']) {
        const environment = { slug: `born-${path.length}`, flags: { is_guarded: true } }
        const before = client.refs()
        expectRefusal(await client.service.post(path, { environment }, writer), 403, 'guarded')
        expect(client.refs()).to.deep.equal(before)
        expect((await client.service.post(path, { environment }, deployer)).status).to.equal(200)
      }
    })
  })

  describe('a key that may only deploy', () => {
    const sent = () => second('application')
    it('deploys, guarded or not, and may do nothing else', async () => {
      const { status } = await client.service.post('/applications/revisions/deploy', sent(), onlyDeployer)
      expect(status).to.equal(200)
      await guard()
      const back = { ...sent(), application_revision_ref: { id: bot.revisions[0].id } }
      expect(
        (await client.service.post('/applications/revisions/deploy', back, onlyDeployer)).status,
      ).to.equal(200)
      const commit = await client.commit(to, { data: {} }, onlyDeployer)
      expectRefusal(commit, 403, 'missing_scope')
      const retrieve = await client.service.post('/applications/revisions/retrieve', sent(), onlyDeployer)
      expectRefusal(retrieve, 403, 'missing_scope')
    })

    it('sees no payload, and one that may read does', async () => {
      const path = '/applications/revisions/deploy'
      const { body } = await client.service.post(path, sent(), onlyDeployer)
      expect(body.application_revision).to.include({ version: 2 }).and.not.have.property('data')
      const whole = await client.service.post(path, sent())
      expect(whole.body.application_revision).to.have.property('data')
    })

    it('deploys to an environment without a variant', async () => {
      const { body } = await client.service.post('/environments/', { environment: {} })
      const { slug } = body.environment
      const place = { ...sent(), environment_ref: { slug } }
      const { status } = await client.service.post('/applications/revisions/deploy', place, onlyDeployer)
      expect(status).to.equal(200)
      expect(await client.latest(slug)).to.include({ version: 1 })
    })

    it('a key that may only read does not', async () => {
      const reply = await client.service.post('/applications/revisions/deploy', sent(), reader)
      expectRefusal(reply, 403, 'missing_scope')
    })
  })

  it('a missing thing is 404 and a contradictory commit 400 before anything is said of the guard', async () => {
    await guard()
    expectRefusal(await client.commit(to, { data: {}, delta: {} }, writer), 400, 'contradictory_request')
    const missing = { ...second('application'), application_revision_ref: { slug: 'no' } }
    expectRefusal(
      await client.service.post('/applications/revisions/deploy', missing, writer),
      404,
      'revision_not_found',
    )
  })
})
