import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

/** Tests look into records freely; the harness has held each against its schema. */
type Found = any

describe('POST /deployments/query', () => {
  let client: EnvironmentClient
  beforeEach(async () => (client = await startEnvironments()))
  afterEach(() => client.stop())

  const query = async (body: object = {}): Promise<Found> => {
    const reply = await client.service.post('/deployments/query', body)
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.count).to.equal(reply.body.deployments.length)
    return reply.body
  }
  const places = ({ deployments }: Found): string[] =>
    deployments.map(
      (it: Found) => `${it.environment.slug} ${it.artifact?.slug ?? it.key} v${it.revision?.version}`,
    )

  // interface 9.13
  it('says what runs where, since which deployment, and how far it is behind', async () => {
    const bot = await client.application(3, { slug: 'bot', name: 'Bot' })
    const [first, second, third] = bot.revisions
    await client.deployed('production', { application_revision_ref: { id: first.id }, message: 'First' })
    await client.deployed('staging', { application_revision_ref: { id: third.id } })
    const other = await client.application(1, { slug: 'other' })
    await client.deployed('production', { application_revision_ref: { id: other.revisions[0].id } })
    const { deployments } = await query()
    expect(places({ deployments })).to.deep.equal([
      'staging bot v3',
      'production bot v1',
      'production other v1',
    ])
    const production = await client.service.post('/environments/revisions/log', {
      environment_ref: { slug: 'production' },
    })
    const [, deployment] = production.body.environment_revisions
    expect(deployments[1]).to.deep.include({
      ...{
        key: 'bot.revision',
        behind: 2,
        artifact: { id: bot.id, slug: 'bot', name: 'Bot', kind: 'workflow' },
      },
      variant: { id: bot.variantId, slug: 'bot' },
      revision: { id: first.id, slug: first.slug, version: 1, subject: first.subject },
      latest: { id: third.id, slug: third.slug, version: 3 },
      since: {
        environment_revision: { id: deployment.id, slug: deployment.slug, version: 1 },
        ...{ author: deployment.author, date: deployment.date, message: 'First' },
      },
    })
    expect(deployments[0].behind).to.equal(0)
    // There and back again: what runs has run since the second of the two.
    await client.deployed('production', { application_revision_ref: { id: second.id } })
    await client.deployed('production', { application_revision_ref: { id: first.id }, message: 'Back' })
    const back = (await query()).deployments[1]
    expect(back).to.deep.include({ revision: { ...deployments[1].revision } })
    expect(back.since).to.deep.include({ message: 'Back' })
    expect(back.since.environment_revision.version).to.equal(4)
  })

  it('asks for one environment, one artifact, or a part of a name, in pages without gaps', async () => {
    for (const slug of ['alpha', 'alphabet', 'beta']) {
      const { revisions } = await client.application(1, { slug })
      for (const to of ['development', 'staging', 'production']) {
        await client.deployed(to, { application_revision_ref: { id: revisions[0].id } })
      }
    }
    const all = places(await query())
    expect(all).to.have.length(9)
    expect(places(await query({ deployment: { contains: 'ALPHA' } }))).to.have.length(6)
    expect(places(await query({ deployment: { artifact_slug: 'alpha' } }))).to.deep.equal(all.slice(0, 3))
    const production = { deployment: { environment_ref: { slug: 'production' } } }
    expect(places(await query(production))).to.deep.equal(all.filter((it) => it.startsWith('production')))
    for (const order of ['ascending', 'descending']) {
      const found: string[] = []
      let next: string | undefined
      do {
        const page: Found = await query({
          windowing: { limit: 2, order, ...(next === undefined ? {} : { next }) },
        })
        found.push(...places(page))
        next = page.windowing?.next
      } while (next !== undefined)
      expect(found).to.deep.equal(order === 'ascending' ? all : [...all].reverse())
    }
  })

  it('says why a key leads nowhere, and of a variant that went another way not how far it is', async () => {
    const { revisions, slug } = await client.application(2)
    await client.deployed('production', { application_revision_ref: { id: revisions[1].id } })
    const to = await client.environment()
    client.deployByGit(to.slug, { 'gone.revision': { application_revision: { slug: 'gone', version: 7 } } })
    // Deployed, and then taken out of the variant with git: a tag still holds it.
    client.gitOf(slug, 'tag', 'kept', slug)
    client.gitOf(slug, 'update-ref', `refs/heads/${slug}`, `${slug}~1`)
    // A list may be two seconds old; what is asked for by name is looked at anew.
    await client.latest(to.slug)
    await client.applications.get(`/${slug}`)
    const { deployments } = await query()
    const gone = deployments.find((it: Found) => it.key === 'gone.revision')
    expect(gone).to.include.keys('problem', 'since').and.not.include.keys('revision', 'behind', 'latest')
    const kept = deployments.find((it: Found) => it.artifact?.slug === slug)
    expect(kept.revision.id).to.equal(revisions[1].id)
    expect(kept).to.not.include.keys('behind', 'latest')
  })

  it('leaves archived environments out, unless they are asked for or one is named', async () => {
    const { revisions, slug } = await client.application(1)
    const to = await client.environment()
    await client.deployed(to.slug, { application_revision_ref: { id: revisions[0].id } })
    expect((await query()).count).to.equal(1)
    await client.service.post(`/environments/${to.id}/archive`)
    expect((await query()).count).to.equal(0)
    // It still answers those who ask it, and so it can be seen what with.
    const { body: found } = await client.service.post('/applications/revisions/retrieve', {
      application_ref: { slug },
      environment_ref: { slug: to.slug },
    })
    expect(found.application_revision.id).to.equal(revisions[0].id)
    for (const body of [{ include_archived: true }, { deployment: { environment_ref: { slug: to.slug } } }]) {
      const { deployments } = await query(body)
      expect(deployments.map((it: Found) => [it.environment.slug, it.revision.id])).to.deep.equal([
        [to.slug, revisions[0].id],
      ])
    }
  })

  it('says what is archived of what runs', async () => {
    const bot = await client.application(1, { slug: 'bot' })
    await client.deployed('production', { application_revision_ref: { id: bot.revisions[0].id } })
    const archived = async (): Promise<unknown> => (await query()).deployments[0].archived
    expect(await archived()).to.equal(undefined)
    for (const [level, path] of [
      ['revision', `revisions/${bot.revisions[0].id}`],
      ['variant', `variants/${bot.variantId}`],
      ['artifact', bot.id],
    ] as const) {
      await client.service.post(`/applications/${path}/archive`, {})
      expect(await archived()).to.equal(level)
      await client.service.post(`/applications/${path}/unarchive`, {})
      expect(await archived()).to.equal(undefined)
    }
  })

  it('refuses what it does not know, naming it', async () => {
    const ask = (body: object) => client.service.post('/deployments/query', body)
    expectRefusal(
      await ask({ deployment: { environment_ref: { slug: 'nowhere' } } }),
      404,
      'artifact_not_found',
    )
    expectRefusal(await ask({ deployment: { artefact_slug: 'bot' } }), 422, 'unknown_field')
    expectRefusal(await ask({ windowing: { next: 'nonsense' } }), 422, 'invalid_request')
    expectRefusal(await ask({ windowing: { limit: 0 } }), 422, 'invalid_request')
    const headers = await client.keyOf('invoke')
    expectRefusal(await client.service.post('/deployments/query', {}, headers), 403, 'missing_scope')
  })

  it('names the variant that was deployed, where several hold the revision, for as long as that is live', async () => {
    const bot = await client.application(2, { slug: 'bot' })
    const { body } = await client.service.post('/applications/variants/fork', {
      application_variant: { slug: 'kinder' },
      application_variant_ref: { slug: 'bot' },
    })
    const kinder = body.application_variant
    await client.deployed('staging', {
      ...{ application_ref: { slug: 'bot' }, application_variant_ref: { slug: 'kinder' } },
      application_revision_ref: { version: 1 },
    })
    await client.deployed('production', { application_revision_ref: { id: bot.revisions[0].id } })
    const named = async (): Promise<unknown> =>
      (await query()).deployments.map((it: Found) => [it.variant.slug, it.revision.slug, it.latest?.slug])
    expect(await named()).to.deep.equal([
      ['kinder', 'kinder-1', 'kinder-2'],
      ['bot', 'bot-1', 'bot-2'],
    ])
    // A client that asks the environment is told the same.
    const { body: found } = await client.service.post('/applications/revisions/retrieve', {
      application_ref: { slug: 'bot' },
      environment_ref: { slug: 'staging' },
    })
    expect(found.application_revision.variant_slug).to.equal('kinder')
    await client.service.post(`/applications/variants/${kinder.id}/archive`, {})
    expect(await named()).to.deep.equal([
      ['bot', 'bot-1', 'bot-2'],
      ['bot', 'bot-1', 'bot-2'],
    ])
  })
})
