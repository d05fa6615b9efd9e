import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { deployedSurfaces, startEnvironments } from './environment-client.ts'

describe('environments: retrieve through one', () => {
  let client: EnvironmentClient
  let bot: Made
  let grader: Made
  let to: MadeEnvironment
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(3)
    grader = await client.surface('evaluator').made(2, { slug: 'grader' })
    to = await client.environment()
    await deployVersion(1)
    await deployVersion(2)
    const sent = {
      evaluator_revision_ref: { id: grader.revisions[0].id },
      environment_ref: { slug: to.slug },
    }
    await client.service.post('/evaluators/revisions/deploy', sent)
  })
  after(() => client.stop())

  const deployVersion = (version: number, more: object = {}): Promise<unknown> =>
    client.deployed(to.slug, {
      application_revision_ref: { id: bot.revisions[version - 1].id },
      ...more,
    })
  const through = () => ({ environment_ref: { slug: to.slug } })
  const ofBot = () => ({ ...through(), application_ref: { slug: bot.slug } })

  for (const deployed of deployedSurfaces) {
    for (const asked of deployedSurfaces) {
      // interface 9.7
      it(`what /${deployed.path} deployed is found through /${asked.path}`, async () => {
        const place = await client.environment()
        const environment_ref = { slug: place.slug }
        await client.surface(deployed.singular).post('/revisions/deploy', {
          [`${deployed.singular}_revision_ref`]: { id: bot.revisions[1].id },
          environment_ref,
        })
        const surface = client.surface(asked.singular)
        const found = await surface.retrieved({
          environment_ref,
          [`${asked.singular}_ref`]: { slug: bot.slug },
        })
        expect(found.id).to.equal(bot.revisions[1].id)
        const byKey = await surface.retrieved({ environment_ref, key: `${bot.slug}.revision` })
        expect(byKey).to.deep.equal(found)
      })
    }
  }

  describe('what is meant, named', () => {
    it('by artifact slug, artifact id, key, each alone or together', async () => {
      for (const more of [
        { application_ref: { slug: bot.slug } },
        { application_ref: { id: bot.id } },
        { key: `${bot.slug}.revision` },
        { key: `${bot.slug}.revision`, application_ref: { id: bot.id } },
        { key: `${bot.slug}.revision`, application_ref: { slug: bot.slug, id: bot.id } },
      ]) {
        const found = await client.retrieved({ ...through(), ...more })
        expect(found.id, JSON.stringify(more)).to.equal(bot.revisions[1].id)
      }
    })

    // interface 5.5
    it('not at all: the only pin of that surface', async () => {
      expect((await client.retrieved(through())).id).to.equal(bot.revisions[1].id)
      const evaluator = await client.surface('evaluator').retrieved(through())
      expect(evaluator.id).to.equal(grader.revisions[0].id)
    })

    // interface 5.5
    it('not at all, with several: 400 that lists their keys', async () => {
      const reply = await client.surface('workflow').retrieve(through())
      const keys = [`${bot.slug}.revision`, 'grader.revision']
      expectRefusal(reply, 400, 'incomplete_reference', ...keys)
      expect(reply.body.details.keys).to.deep.equal(keys)
    })

    it('not at all, with none of that surface: 400 that says so', async () => {
      const place = await client.environment()
      await client.deployed(place.slug, { application_ref: { id: bot.id } })
      const reply = await client.surface('evaluator').retrieve({ environment_ref: { slug: place.slug } })
      expectRefusal(reply, 400, 'incomplete_reference', 'key')
      expect(reply.body.details.keys).to.deep.equal([])
    })

    it('not at all, with a pin that points at nothing: the others count', async () => {
      const place = await client.environment()
      const dangling = { application_revision: { slug: 'nowhere', version: 1 } }
      await client.committed(place, { data: { references: { 'a.revision': dangling, odd: { query: {} } } } })
      await client.deployed(place.slug, { application_ref: { id: bot.id } })
      expect((await client.retrieved({ environment_ref: { slug: place.slug } })).version).to.equal(3)
    })
  })

  describe('the environment, named', () => {
    const byKey = () => ({ key: `${bot.slug}.revision` })
    it('by id and by variant, by slug or id', async () => {
      for (const named of [
        { environment_ref: { id: to.id } },
        { environment_variant_ref: { id: to.variantId } },
        { environment_variant_ref: { slug: to.slug } },
        { environment_ref: { id: to.id }, environment_variant_ref: { slug: to.slug } },
      ]) {
        const { version } = await client.retrieved({ ...named, ...byKey() })
        expect(version, JSON.stringify(named)).to.equal(2)
      }
    })

    // interface 9.7
    it('by revision: an older deployment', async () => {
      const older = await client.service.post('/environments/revisions/retrieve', {
        environment_revision_ref: { slug: to.slug, version: 1 },
      })
      const { id } = older.body.environment_revision
      for (const named of [
        { environment_revision_ref: { id } },
        { environment_revision_ref: { slug: to.slug, version: 1 } },
        { environment_revision_ref: { slug: `${to.slug}-1` } },
        { environment_revision_ref: { version: '1' }, environment_ref: { slug: to.slug } },
        { environment_ref: { slug: to.slug, version: 1 } },
      ]) {
        const { version } = await client.retrieved({ ...named, ...byKey() })
        expect(version, JSON.stringify(named)).to.equal(1)
      }
    })

    it('by a revision slug that was chosen, and by a tag made with git', async () => {
      const place = await client.environment()
      const group = { application_revision: { id: bot.revisions[0].id } }
      await client.committed(place, { data: { references: { bot: group } }, slug: 'launch-day' })
      await client.deployed(place.slug, { application_ref: { id: bot.id } })
      client.git(place.slug, 'tag', 'frozen', `${place.slug}~1`)
      for (const slug of ['launch-day', 'frozen']) {
        const found = await client.retrieved({ environment_revision_ref: { slug }, key: 'bot' })
        expect(found.version, slug).to.equal(1)
      }
    })
  })

  describe('precedence: what is more specific than an environment wins', () => {
    it('a revision', async () => {
      const found = await client.retrieve({
        ...ofBot(),
        application_revision_ref: { id: bot.revisions[2].id },
      })
      expect(found.body.application_revision.version).to.equal(3)
      expect(found.body.retrieval_info).to.not.have.property('selector')
      expect(found.body.retrieval_info.references).to.not.have.property('environment')
    })
    it('a variant', async () => {
      expect(
        (await client.retrieved({ ...ofBot(), application_variant_ref: { slug: bot.slug } })).version,
      ).to.equal(3)
    })
    it('even if the environment does not exist', async () => {
      const found = await client.retrieved({
        environment_ref: { slug: 'no' },
        application_revision_ref: { id: bot.revisions[0].id },
      })
      expect(found.version).to.equal(1)
    })
    it('an artifact does not: it names the pin', async () => {
      expect((await client.retrieved(ofBot())).version).to.equal(2)
    })
  })

  // interface 5.15
  it('says through what it was found, exactly', async () => {
    const { body } = await client.retrieve(ofBot())
    const environment = await client.latest(to.slug)
    expect(body).to.have.all.keys('count', 'application_revision', 'retrieval_info')
    expect(body.application_revision).to.deep.equal(bot.revisions[1])
    expect(body.retrieval_info).to.deep.equal({
      references: {
        environment: { id: to.id, slug: to.slug },
        environment_variant: { id: to.variantId, slug: to.slug },
        environment_revision: { id: environment.id, slug: `${to.slug}-3`, version: 3 },
        application: { id: bot.id, slug: bot.slug },
        application_variant: { id: bot.variantId, slug: bot.slug },
        application_revision: { id: bot.revisions[1].id, slug: `${bot.slug}-2`, version: 2 },
      },
      selector: { key: `${bot.slug}.revision` },
    })
  })

  it('the GET form answers the same', async () => {
    const post = await client.retrieve(ofBot())
    for (const query of [
      `environment_ref.slug=${to.slug}&application_ref.slug=${bot.slug}`,
      `environment_ref.id=${to.id}&key=${bot.slug}.revision`,
      `environment_variant_ref.id=${to.variantId}&application_ref.id=${bot.id}`,
      `environment_revision_ref.slug=${to.slug}&environment_revision_ref.version=3&key=${bot.slug}.revision`,
    ]) {
      const reply = await client.service.get(`/applications/revisions/retrieve?${query}`)
      expect(reply.body, query).to.deep.equal(post.body)
      expect(reply.headers.get('etag'), query).to.equal(post.headers.get('etag'))
    }
  })

  it('retrieve of the environment itself has no selector', async () => {
    const { body } = await client.service.post('/environments/revisions/retrieve', through())
    const { id } = await client.latest(to.slug)
    expect(body.retrieval_info).to.deep.equal({
      references: {
        environment: { id: to.id, slug: to.slug },
        environment_variant: { id: to.variantId, slug: to.slug },
        environment_revision: { id, slug: `${to.slug}-3`, version: 3 },
      },
    })
  })

  describe('refused:', () => {
    const refused = async (
      references: () => object,
      ...expected: readonly [number, string, ...string[]]
    ): Promise<void> => expectRefusal(await client.retrieve(references()), ...expected)

    it('a key without an environment', () =>
      refused(() => ({ key: 'x' }), 400, 'incomplete_reference', 'environment_ref'))
    it('nothing', () => refused(() => ({}), 400, 'incomplete_reference'))
    it('an environment reference that identifies nothing', () =>
      refused(() => ({ environment_ref: {}, key: 'x' }), 400, 'incomplete_reference'))
    it('a version with nothing to scope it', () =>
      refused(() => ({ environment_revision_ref: { version: 1 }, key: 'x' }), 400, 'incomplete_reference'))
    it('a missing environment', () =>
      refused(
        () => ({ environment_ref: { slug: 'no' }, application_ref: { slug: bot.slug } }),
        404,
        'environment_not_found',
        '"no"',
      ))
    it('an environment without revisions', () =>
      refused(
        () => ({ environment_ref: { slug: 'development' }, application_ref: { slug: bot.slug } }),
        404,
        'deployment_not_found',
        '"development"',
      ))
    it('a missing revision of an environment', () =>
      refused(
        () => ({ environment_ref: { slug: to.slug, version: 99 }, key: 'x' }),
        404,
        'revision_not_found',
      ))
    it('what is not deployed there: its keys are listed', () =>
      refused(
        () => ({ ...through(), key: 'other' }),
        404,
        'deployment_not_found',
        '"other"',
        `"${bot.slug}.revision"`,
      ))
    it('what is not deployed there: of many and long keys, some are listed in part', async () => {
      const place = await client.environment()
      const keys = Array.from({ length: 12 }, (_, index) => `${index} ${'k'.repeat(5000)}`)
      const references = Object.fromEntries(keys.map((key) => [key, { application: { id: bot.id } }]))
      await client.committed(place, { data: { references } })
      const at = { environment_ref: { slug: place.slug } }
      for (const [asked, status, code] of [
        [{ ...at, key: 'x'.repeat(5000) }, 404, 'deployment_not_found'],
        [at, 400, 'incomplete_reference'],
      ] as const) {
        const reply = await client.retrieve(asked)
        expectRefusal(reply, status, code, '"9 kk', 'and 2 others')
        expect(reply.body.detail.length).to.be.below(1500)
      }
    })
    it('an application reference that identifies nothing', () =>
      refused(() => ({ ...through(), application_ref: {} }), 400, 'incomplete_reference', 'application_ref'))
    it('an application that is not deployed there', async () => {
      const other = await client.application(1)
      await refused(() => ({ ...through(), application_ref: { id: other.id } }), 404, 'deployment_not_found')
    })
    it('an application that does not exist', () =>
      refused(() => ({ ...through(), application_ref: { slug: 'no' } }), 404, 'deployment_not_found', 'no'))
  })

  it('what is deployed under a key is answered beside another artifact or version, with a warning', async () => {
    const key = 'grader.revision'
    for (const [references, said] of [
      [{ ...through(), application_ref: { id: bot.id }, key }, 'application_ref.id'],
      [{ ...through(), application_ref: { slug: bot.slug, version: 99 } }, 'application_ref.version 99'],
    ] as const) {
      const { status, body, text } = await client.retrieve(references)
      expect(status, text).to.equal(200)
      const [warning, ...others] = body.warnings
      expect(others).to.deep.equal([])
      expect(warning).to.include({ code: 'reference_disagrees' })
      expect(warning.message).to.include(said)
    }
  })

  it('a pin by slugs, by a variant or by an artifact alone is followed', async () => {
    const place = await client.environment()
    const app = await client.application(3)
    const references = {
      slugs: { application_revision: { slug: app.slug, version: '1' } },
      variant: { application_variant: { slug: app.slug } },
      artifact: { workflow: { id: app.id } },
    }
    await client.committed(place, { data: { references } })
    const at = (key: string) => client.retrieved({ environment_ref: { slug: place.slug }, key })
    expect((await at('slugs')).version).to.equal(1)
    expect((await at('variant')).version).to.equal(3)
    expect((await at('artifact')).version).to.equal(3)
    const next = await client.applications.committed(app.variantId, client.applications.payload('n4'))
    expect((await at('variant')).id).to.equal(next.id)
  })

  describe('what was archived still serves:', () => {
    const archived = async (path: string): Promise<void> => {
      expect((await client.service.post(`${path}/archive`)).status).to.equal(200)
    }
    let place: MadeEnvironment
    let app: Made
    beforeEach(async () => {
      place = await client.environment()
      app = await client.application(1)
      await client.deployed(place.slug, { application_ref: { id: app.id } })
    })
    const found = () =>
      client.retrieved({ environment_ref: { slug: place.slug }, application_ref: { id: app.id } })

    it('the application', async () => {
      await archived(`/applications/${app.id}`)
      expect((await found()).id).to.equal(app.revisions[0].id)
      expect((await client.retrieved({ environment_ref: { slug: place.slug } })).version).to.equal(1)
    })
    it('its variant', async () => {
      await archived(`/applications/variants/${app.variantId}`)
      expect((await found()).id).to.equal(app.revisions[0].id)
    })
    it('the revision', async () => {
      await archived(`/applications/revisions/${app.revisions[0].id}`)
      expect(await found())
        .to.include({ id: app.revisions[0].id })
        .and.to.have.property('deleted_at')
    })
    it('the environment', async () => {
      await archived(`/environments/${place.id}`)
      expect((await found()).id).to.equal(app.revisions[0].id)
    })
    it('its variant', async () => {
      await archived(`/environments/variants/${place.variantId}`)
      expect((await found()).id).to.equal(app.revisions[0].id)
    })
    it('but a revision of the environment is taken back: the one before it is the latest', async () => {
      const next = await client.applications.committed(app.variantId, client.applications.payload('n2'))
      await client.deployed(place.slug, { application_revision_ref: { id: next.id } })
      const { id } = await client.latest(place.slug)
      await archived(`/environments/revisions/${id}`)
      expect((await found()).id).to.equal(app.revisions[0].id)
      await client.service.post(`/environments/revisions/${id}/unarchive`)
      expect((await found()).id).to.equal(next.id)
    })
  })
})

describe('environments: VERSION_TYPE=string', () => {
  let client: EnvironmentClient
  before(async () => (client = await startEnvironments({ env: { VERSION_TYPE: 'string' } })))
  after(() => client.stop())

  it('every version is a string, those of what is deployed too', async () => {
    const bot = await client.application(2)
    await client.deployed('staging', { application_revision_ref: { slug: bot.slug, version: '2' } })
    const { body } = await client.retrieve({ environment_ref: { slug: 'staging' } })
    expect(body.application_revision.version).to.equal('2')
    const { environment_revision, application_revision } = body.retrieval_info.references
    expect([environment_revision.version, application_revision.version]).to.deep.equal(['1', '2'])
    const { version, data } = await client.latest('staging')
    expect(version).to.equal('1')
    expect(data.references[`${bot.slug}.revision`].application_revision.version).to.equal('2')
    expect(JSON.parse(client.git('staging', 'show', 'HEAD:references.json'))).to.deep.include({
      [`${bot.slug}.revision`]: {
        application: { id: bot.id, slug: bot.slug },
        application_variant: { id: bot.variantId, slug: bot.slug },
        application_revision: { id: bot.revisions[1].id, slug: `${bot.slug}-2`, version: 2 },
      },
    })
  })
})
