import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { deployedSurfaces, startEnvironments } from './environment-client.ts'

describe('environments: deploy', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(3)
  })
  after(() => client.stop())
  beforeEach(async () => (to = await client.environment()))

  const versions = async (): Promise<number> => (await client.latest(to.slug))?.version ?? 0
  const revision = (version: number): any => bot.revisions[version - 1]

  for (const { path, singular } of deployedSurfaces) {
    // interface 9.3
    it(`/${path} answers the deployed revision, and pins it under its own names`, async () => {
      const surface = client.surface(singular)
      const made = await surface.made(2, { slug: `of-${path}` })
      const { status, text, body } = await surface.post('/revisions/deploy', {
        [`${singular}_revision_ref`]: { id: made.revisions[0].id },
        environment_ref: { slug: to.slug },
      })
      expect(status, text).to.equal(200)
      expect(body).to.have.all.keys('count', `${singular}_revision`, 'deployments')
      expect(body[`${singular}_revision`]).to.deep.equal(made.revisions[0])
      expect(await client.pins(to.slug)).to.deep.equal({
        [`${made.slug}.revision`]: {
          [singular]: { id: made.id, slug: made.slug },
          [`${singular}_variant`]: { id: made.variantId, slug: made.slug },
          [`${singular}_revision`]: { id: made.revisions[0].id, slug: `${made.slug}-1`, version: 1 },
        },
      })
    })
  }

  describe('what is deployed, named', () => {
    const cases: readonly (readonly [string, () => object, number])[] = [
      ['by revision id', () => ({ application_revision_ref: { id: revision(2).id } }), 2],
      ['by revision slug', () => ({ application_revision_ref: { slug: `${bot.slug}-1` } }), 1],
      [
        'by variant slug and version',
        () => ({ application_revision_ref: { slug: bot.slug, version: 2 } }),
        2,
      ],
      [
        'by version beside a variant',
        () => ({ application_revision_ref: { version: '1' }, application_variant_ref: { slug: bot.slug } }),
        1,
      ],
      ['by variant id: its latest', () => ({ application_variant_ref: { id: bot.variantId } }), 3],
      [
        'by artifact slug: the latest of its default variant',
        () => ({ application_ref: { slug: bot.slug } }),
        3,
      ],
      ['by artifact id and version', () => ({ application_ref: { id: bot.id, version: 2 } }), 2],
      ['in the words of another surface', () => ({ workflow_ref: { id: bot.id } }), 3],
    ]
    for (const [name, body, version] of cases) {
      it(name, async () => {
        expect((await client.deployed(to.slug, body())).id).to.equal(revision(version).id)
        const { application_revision } = (await client.pins(to.slug))[`${bot.slug}.revision`]
        expect(application_revision.id).to.equal(revision(version).id)
      })
    }
  })

  describe('where to, named', () => {
    const body = () => ({ application_ref: { slug: bot.slug } })
    const deployTo = (references: object) =>
      client.service.post('/applications/revisions/deploy', { ...body(), ...references })

    it('by environment id', async () => {
      expect((await deployTo({ environment_ref: { id: to.id } })).status).to.equal(200)
      expect(await versions()).to.equal(1)
    })

    it('by variant: the deployment goes to that variant, not to the default one', async () => {
      await client.deployed(to.slug, body())
      const forked = await client.service.post('/environments/variants/fork', {
        environment_variant: { slug: `${to.slug}-canary` },
        environment_variant_ref: { id: to.variantId },
      })
      const { id, slug } = forked.body.environment_variant
      const older = { application_ref: undefined, application_revision_ref: { id: revision(1).id } }
      expect((await deployTo({ environment_variant_ref: { slug }, ...older })).status).to.equal(200)
      expect(await versions()).to.equal(1)
      const canary = await client.service.post('/environments/revisions/retrieve', {
        environment_variant_ref: { id },
      })
      const { version, data } = canary.body.environment_revision
      expect(version).to.equal(2)
      expect(data.references[`${bot.slug}.revision`].application_revision.version).to.equal(1)
    })

    it('by a revision: on top of the latest of its variant, whichever revision it is', async () => {
      await client.deployed(to.slug, { ...body(), key: 'first' })
      await client.deployed(to.slug, { ...body(), key: 'second' })
      const { status } = await deployTo({
        environment_ref: { slug: to.slug },
        environment_revision_ref: { version: 1 },
        key: 'third',
      })
      expect(status).to.equal(200)
      expect(Object.keys(await client.pins(to.slug))).to.deep.equal(['first', 'second', 'third'])
    })
  })

  describe('the key', () => {
    const keys = [
      'qa',
      '__proto__',
      'constructor',
      'toString',
      '../../etc/passwd',
      'refs/heads/x',
      'two\nlines',
      'Deploy-To: x',
      ' spaced ',
      'ключ ☃',
      'a\tb',
      '\u0000',
      '\u2028',
      '"',
    ]
    for (const key of keys) {
      it(`${JSON.stringify(key)} is any text, found again as it was sent`, async () => {
        await client.deployed(to.slug, { application_revision_ref: { id: revision(2).id }, key })
        const { text } = await client.service.post('/environments/revisions/retrieve', {
          environment_ref: { slug: to.slug },
        })
        expect(text).to.include(`"references":{${JSON.stringify(key)}:{"application":{"id":`)
        const found = await client.retrieve({ environment_ref: { slug: to.slug }, key })
        expect(found.body.application_revision.id).to.equal(revision(2).id)
        expect(found.body.retrieval_info.selector).to.deep.equal({ key })
        expect(client.mirror(bot.slug, to.slug)).to.equal(undefined)
      })
    }

    for (const key of ['', null]) {
      // interface 9.4
      it(`${JSON.stringify(key)} is the default key`, async () => {
        await client.deployed(to.slug, { application_ref: { id: bot.id }, key })
        expect(Object.keys(await client.pins(to.slug))).to.deep.equal([`${bot.slug}.revision`])
      })
    }

    it('different keys hold different revisions of one application side by side', async () => {
      await client.deployed(to.slug, { application_revision_ref: { id: revision(1).id }, key: 'old' })
      await client.deployed(to.slug, { application_revision_ref: { id: revision(3).id } })
      const through = { environment_ref: { slug: to.slug } }
      expect((await client.retrieved({ ...through, key: 'old' })).version).to.equal(1)
      expect((await client.retrieved({ ...through, application_ref: { id: bot.id } })).version).to.equal(3)
    })
  })

  describe('the commit in the repository of the environment', () => {
    const head = (format: string): string => client.git(to.slug, 'log', '-1', `--format=${format}`)

    it('is by the key that deployed, says what was said, and carries the deployment in trailers', async () => {
      await client.deployed(to.slug, { application_revision_ref: { id: revision(1).id } })
      await client.deployed(to.slug, {
        application_revision_ref: { id: revision(2).id },
        message: 'Calmer answers\n\nAsked for by support.',
      })
      const [author, ...message] = head('%an%n%B').split('\n')
      expect(author).to.equal('admin')
      expect(
        message
          .join('\n')
          .trimEnd()
          .replace(/\nDeploy-By: [0-9a-f-]{36}$/, ''),
      ).to.equal(
        [
          'Calmer answers',
          '',
          'Asked for by support.',
          '',
          `Variant: ${to.slug}`,
          `Deploy-Key: ${bot.slug}.revision`,
          `Deploy-From: ${bot.slug}-1 ${revision(1).id}`,
          `Deploy-To: ${bot.slug}-2 ${revision(2).id}`,
        ].join('\n'),
      )
      expect((await client.latest(to.slug)).message).to.equal('Calmer answers\n\nAsked for by support.')
    })

    it('without a message says what it deploys, and of the first deployment no Deploy-From', async () => {
      await client.deployed(to.slug, { application_revision_ref: { id: revision(1).id } })
      expect(head('%s')).to.equal(`Deploy ${bot.slug} v1 to ${to.slug}`)
      const latest = await client.latest(to.slug)
      expect([latest.message, latest.subject]).to.deep.equal([undefined, head('%s')])
      expect(head('%(trailers:key=Deploy-From)')).to.equal('')
      expect(head('%(trailers:key=Deploy-To,valueonly)').trim()).to.equal(`${bot.slug}-1 ${revision(1).id}`)
    })

    it('a key of several lines stays one trailer', async () => {
      const key = 'x\nDeploy-To: forged'
      await client.deployed(to.slug, { application_revision_ref: { id: revision(1).id }, key })
      expect(head('%(trailers:key=Deploy-Key,valueonly)').trim()).to.equal(JSON.stringify(key))
      expect(head('%(trailers:key=Deploy-To,valueonly)').trim()).to.equal(`${bot.slug}-1 ${revision(1).id}`)
    })

    it('git show prints what moved, and nothing else', async () => {
      const other = await client.application(1)
      await client.deployed(to.slug, { application_ref: { id: other.id } })
      await client.deployed(to.slug, { application_revision_ref: { id: revision(1).id } })
      await client.deployed(to.slug, { application_revision_ref: { id: revision(2).id } })
      const shown = client.git(to.slug, 'show', '--format=', 'HEAD')
      expect(shown).to.include('a/references.json b/references.json')
      expect(shown.split('\n').filter((line) => /^[-+] /.test(line))).to.deep.equal([
        `-      "id": "${revision(1).id}",`,
        `-      "slug": "${bot.slug}-1",`,
        '-      "version": 1',
        `+      "id": "${revision(2).id}",`,
        `+      "slug": "${bot.slug}-2",`,
        '+      "version": 2',
      ])
      expect(client.git(to.slug, 'ls-tree', '--name-only', 'HEAD')).to.equal('references.json')
    })
  })

  describe('the revision that is there already', () => {
    // interface 9.5, 3.6
    it('changes nothing, through whichever surface, and is answered', async () => {
      const body = { application_revision_ref: { id: revision(2).id } }
      await client.deployed(to.slug, body)
      const before = client.refs()
      expect((await client.deployed(to.slug, { ...body, message: 'Again' })).id).to.equal(revision(2).id)
      for (const { singular } of deployedSurfaces) {
        const { status, body: answer } = await client.surface(singular).post('/revisions/deploy', {
          [`${singular}_revision_ref`]: { id: revision(2).id },
          environment_ref: { slug: to.slug },
        })
        expect(status).to.equal(200)
        expect(answer[`${singular}_revision`].id).to.equal(revision(2).id)
      }
      expect(client.refs()).to.deep.equal(before)
    })

    it('deployed under another key is a deployment', async () => {
      const body = { application_revision_ref: { id: revision(2).id } }
      await client.deployed(to.slug, body)
      await client.deployed(to.slug, { ...body, key: 'also' })
      expect(await versions()).to.equal(2)
    })

    it('is no longer there when the newest revision of the environment was archived', async () => {
      for (const version of [1, 2]) {
        await client.deployed(to.slug, { application_revision_ref: { id: revision(version).id } })
      }
      const { id } = await client.latest(to.slug)
      await client.service.post(`/environments/revisions/${id}/archive`)
      await client.deployed(to.slug, { application_revision_ref: { id: revision(2).id } })
      expect(await client.latest(to.slug)).to.include({ version: 3 })
    })
  })

  // interface 9.1
  it('rollback is deploying the older revision: one more revision, nothing rewritten', async () => {
    for (const version of [1, 2, 1]) {
      await client.deployed(to.slug, { application_revision_ref: { id: revision(version).id } })
    }
    expect(await versions()).to.equal(3)
    const at = (version: number) =>
      client.retrieved({
        environment_ref: { slug: to.slug },
        environment_revision_ref: { version },
        application_ref: { id: bot.id },
      })
    const deployed = await Promise.all([1, 2, 3].map(at))
    expect(deployed.map(({ version }) => version)).to.deep.equal([1, 2, 1])
  })

  // interface 9.5
  it('a seeded environment without any revision gets version 1', async () => {
    for (const slug of ['development', 'staging', 'production']) {
      expect(await client.latest(slug)).to.equal(undefined)
      await client.deployed(slug, { application_ref: { id: bot.id } })
      expect(await client.latest(slug)).to.include({ version: 1, slug: `${slug}-1` })
    }
  })

  it('an environment without a variant gets one, and version 1', async () => {
    const { body } = await client.service.post('/environments/', { environment: { slug: 'bare' } })
    await client.deployed('bare', { application_ref: { id: bot.id } })
    const latest = await client.latest('bare')
    expect(latest).to.include({ version: 1, environment_id: body.environment.id })
    expect(latest.environment_variant_slug).to.equal('bare')
    expect(client.git('bare', 'log', '--format=%s', 'HEAD')).to.equal(`Deploy ${bot.slug} v3 to bare`)
  })

  it('first deployments at once to an environment without a variant go to one variant', async () => {
    await client.service.post('/environments/', { environment: { slug: 'rushed' } })
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((key) => client.deploy('rushed', { application_ref: { id: bot.id }, key })),
    )
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    expect(await client.latest('rushed')).to.include({ version: 4 })
    expect(client.git('rushed', 'for-each-ref', '--format=%(refname:short)', 'refs/heads')).to.equal('rushed')
  })

  describe('refused, with nothing stored:', () => {
    const refused = async (
      body: () => Promise<object> | object,
      ...expected: readonly [number, string, ...string[]]
    ): Promise<void> => {
      const sent = await body()
      const before = client.refs()
      expectRefusal(await client.service.post('/applications/revisions/deploy', sent), ...expected)
      expect(client.refs()).to.deep.equal(before)
    }
    const what = (): object => ({ application_ref: { id: bot.id } })
    const where = (): object => ({ environment_ref: { slug: to.slug } })
    const archived = async (path: string): Promise<void> => {
      expect((await client.service.post(`${path}/archive`)).status).to.equal(200)
    }
    const bare = async (): Promise<object> => {
      const { body } = await client.service.post('/environments/', { environment: {} })
      return { environment_ref: { id: body.environment.id } }
    }

    it('nothing says where', () => refused(what, 400, 'incomplete_reference', 'environment_ref'))
    it('nothing says what', () => refused(where, 400, 'incomplete_reference', 'Nothing is referred to'))
    it('a reference that identifies nothing', () =>
      refused(() => ({ ...what(), environment_ref: {} }), 400, 'incomplete_reference'))

    const unknown = '01a1fbb1-f5c2-76ee-83de-000000000000'
    it('a missing application', () =>
      refused(() => ({ ...where(), application_ref: { id: unknown } }), 404, 'artifact_not_found', unknown))
    it('a missing variant', () =>
      refused(
        () => ({ ...where(), application_variant_ref: { slug: 'no' } }),
        404,
        'variant_not_found',
        'no',
      ))
    it('a missing revision', () =>
      refused(
        () => ({ ...where(), application_revision_ref: { slug: bot.slug, version: 9 } }),
        404,
        'revision_not_found',
        'version 9',
      ))
    it('an application without a revision', async () => {
      const made = await client.application(0)
      await refused(() => ({ ...where(), application_ref: { id: made.id } }), 404, 'revision_not_found')
    })
    it('a missing environment', () =>
      refused(() => ({ ...what(), environment_ref: { slug: 'no' } }), 404, 'environment_not_found', 'no'))
    it('a missing environment variant', () =>
      refused(() => ({ ...what(), environment_variant_ref: { slug: 'no' } }), 404, 'variant_not_found', 'no'))
    it('a missing environment revision', () =>
      refused(
        () => ({ ...what(), ...where(), environment_revision_ref: { version: 7 } }),
        404,
        'revision_not_found',
        'version 7',
      ))
    it('a testset in place of an application', async () => {
      const { body } = await client.service.post('/simple/testsets/', {
        testset: { data: { testcases: [{ data: { a: 1 } }] } },
      })
      const { revision_id } = body.testset
      await refused(
        () => ({ ...where(), application_revision_ref: { id: revision_id } }),
        404,
        'revision_not_found',
      )
    })
    it('a workflow named in the place of the environment', () =>
      refused(() => ({ ...what(), environment_ref: { id: bot.id } }), 404, 'environment_not_found'))

    for (const [name, place] of [
      ['an environment', where],
      ['an environment without a variant', bare],
    ] as const) {
      it(`an archived application, to ${name}`, () =>
        refused(
          async () => {
            const made = await client.application(1)
            await archived(`/applications/${made.id}`)
            return { ...(await place()), application_revision_ref: { id: made.revisions[0].id } }
          },
          409,
          'archived',
        ))
      it(`an archived variant, to ${name}`, () =>
        refused(
          async () => {
            const made = await client.application(1)
            await archived(`/applications/variants/${made.variantId}`)
            return { ...(await place()), application_revision_ref: { id: made.revisions[0].id } }
          },
          409,
          'archived',
        ))
    }
    it('an archived environment', () =>
      refused(
        async () => {
          await archived(`/environments/${to.id}`)
          return { ...what(), ...where() }
        },
        409,
        'archived',
        to.slug,
      ))
    it('an archived environment without a variant', () =>
      refused(
        async () => {
          const { body } = await client.service.post('/environments/', { environment: {} })
          await archived(`/environments/${body.environment.id}`)
          return { ...what(), environment_ref: { id: body.environment.id } }
        },
        409,
        'archived',
      ))
    it('an archived environment variant', () =>
      refused(
        async () => {
          await archived(`/environments/variants/${to.variantId}`)
          return { ...what(), ...where() }
        },
        409,
        'archived',
        to.slug,
      ))
    it('what is deployed there already, to an environment that was archived since', () =>
      refused(
        async () => {
          await client.deployed(to.slug, what())
          await archived(`/environments/${to.id}`)
          return { ...what(), ...where() }
        },
        409,
        'archived',
      ))
  })
})
