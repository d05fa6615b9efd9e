import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

describe('environments: history', () => {
  let client: EnvironmentClient
  let bot: Made
  let other: Made
  let to: MadeEnvironment
  before(async () => {
    client = await startEnvironments()
    bot = await client.application(2)
    other = await client.application(2)
    to = await client.environment()
    const deploy = (made: Made, version: number, more: object = {}) =>
      client.deployed(to.slug, {
        application_revision_ref: { id: made.revisions[version - 1].id },
        ...more,
      })
    await deploy(bot, 1) // 1: deployed
    await deploy(other, 1)
    await deploy(bot, 2, { message: 'Better' }) // 3: moved
    await deploy(other, 2)
    await client.committed(to, { delta: { remove: [`${bot.slug}.revision`] } }) // 5: undeployed
    await client.committed(to, { delta: { set: { odd: {} } } })
    await deploy(bot, 1, { key: 'qa' }) // 7: deployed again
    await client.committed(to, { delta: { set: { odd: { environment: {} } } } })
  })
  after(() => client.stop())

  const versionsOf = (revisions: readonly any[]): number[] => revisions.map(({ version }) => version)

  it('by the slug of an artifact, finds pins that hold its id alone', async () => {
    const elsewhere = await client.environment()
    const own = await client.application(1)
    const data = { references: { x: { application_revision: { id: own.revisions[0].id } } } }
    await client.committed(elsewhere, { data })
    const { body } = await client.service.post('/environments/revisions/query', {
      environment_refs: [{ slug: elsewhere.slug }],
      references: [{ slug: own.slug }],
    })
    expect(body.count).to.equal(1)
  })

  describe('log', () => {
    const log = async (of: object, more: object = {}): Promise<any> => {
      const body = { environment_revisions: of, ...more }
      const reply = await client.service.post('/environments/revisions/log', body)
      expect(reply.status, reply.text).to.equal(200)
      expect(reply.body.count).to.equal(reply.body.environment_revisions.length)
      return reply.body
    }

    // interface 9.1
    it('is newest first, by variant, by environment, or from a revision back', async () => {
      const all = [8, 7, 6, 5, 4, 3, 2, 1]
      const { environment_revisions } = await log({ environment_variant_id: to.variantId })
      expect(versionsOf(environment_revisions)).to.deep.equal(all)
      expect(environment_revisions[5]).to.include({ message: 'Better' }).and.not.have.property('data')
      expect(versionsOf((await log({ environment_id: to.id })).environment_revisions)).to.deep.equal(all)
      const from = { environment_revision_id: environment_revisions[5].id }
      expect(versionsOf((await log(from)).environment_revisions)).to.deep.equal([3, 2, 1])
      const short = await log({ environment_id: to.id, depth: 2 })
      expect(versionsOf(short.environment_revisions)).to.deep.equal([8, 7])
    })

    it('shows the pins if asked', async () => {
      const { environment_revisions } = await log({ environment_id: to.id }, { include_data: true })
      const deployedAt = environment_revisions.map(
        ({ data }: any) => data.references[`${bot.slug}.revision`]?.application_revision.version,
      )
      expect(deployedAt).to.deep.equal([undefined, undefined, undefined, undefined, 2, 2, 1, 1])
    })

    it('is what git log says', async () => {
      const { environment_revisions } = await log({ environment_id: to.id })
      const subjects = environment_revisions.map(({ subject }: any) => subject)
      expect(subjects).to.include('Better').and.include(`Deploy ${bot.slug} v1 to ${to.slug}`)
      expect(subjects).to.deep.equal(client.git(to.slug, 'log', '--format=%s').split('\n'))
    })
  })

  describe('of one application', () => {
    const query = async (body: object): Promise<any> => {
      const reply = await client.service.post('/environments/revisions/query', {
        environment_refs: [{ id: to.id }],
        ...body,
      })
      expect(reply.status, reply.text).to.equal(200)
      expect(reply.body.count).to.equal(reply.body.environment_revisions.length)
      return reply.body
    }
    const changes = async (references: readonly object[], more: object = {}): Promise<number[]> => {
      const windowing = { limit: 100, order: 'descending' }
      return versionsOf((await query({ references, windowing, ...more })).environment_revisions)
    }

    // interface 9.12
    it('is when it was deployed, moved and undeployed, and nothing of the others', async () => {
      expect(await changes([{ id: bot.id }])).to.deep.equal([7, 5, 3, 1])
      expect(await changes([{ id: other.id }])).to.deep.equal([4, 2])
    })
    it('by slug, and of several together', async () => {
      expect(await changes([{ slug: bot.slug }])).to.deep.equal([7, 5, 3, 1])
      expect(await changes([{ id: bot.id }, { slug: other.slug }])).to.deep.equal([7, 5, 4, 3, 2, 1])
    })
    it('of what was never deployed is empty', async () => {
      const never = await client.application(1)
      expect(await changes([{ id: never.id }])).to.deep.equal([])
      expect(await changes([{ slug: never.slug }])).to.deep.equal([])
    })
    it('without references is everything', async () => {
      expect(await changes([])).to.deep.equal([8, 7, 6, 5, 4, 3, 2, 1])
    })

    it('is cut into windows after the filter', async () => {
      const references = [{ id: bot.id }]
      const first = await query({ references, windowing: { limit: 3, order: 'descending' } })
      expect(versionsOf(first.environment_revisions)).to.deep.equal([7, 5, 3])
      const next = first.windowing.next
      expect(next).to.equal(first.environment_revisions[2].id)
      const rest = await query({ references, windowing: { limit: 3, order: 'descending', next } })
      expect(versionsOf(rest.environment_revisions)).to.deep.equal([1])
      expect(rest).to.not.have.property('windowing')
    })

    it('goes together with the other filters', async () => {
      const more = { environment_revision: { message: 'better' } }
      expect(await changes([{ id: bot.id }], more)).to.deep.equal([3])
      expect(await changes([{ id: other.id }], more)).to.deep.equal([])
    })

    it('leaves a revision out that was archived', async () => {
      const { environment_revisions } = await query({ references: [{ id: bot.id }] })
      const { id } = environment_revisions.find(({ version }: any) => version === 5)
      await client.service.post(`/environments/revisions/${id}/archive`)
      expect(await changes([{ id: bot.id }])).to.deep.equal([7, 3, 1])
      expect(await changes([{ id: bot.id }], { include_archived: true })).to.deep.equal([7, 5, 3, 1])
      await client.service.post(`/environments/revisions/${id}/unarchive`)
    })

    it('spans environments if none is named', async () => {
      await client.deployed('staging', { application_ref: { id: bot.id } })
      const reply = await client.service.post('/environments/revisions/query', {
        references: [{ id: bot.id }],
      })
      const slugs = reply.body.environment_revisions.map(({ environment_slug }: any) => environment_slug)
      expect(new Set(slugs)).to.deep.equal(new Set([to.slug, 'staging']))
    })
  })

  it('diff of two revisions is what was deployed between them', async () => {
    const { body } = await client.service.post('/environments/revisions/diff', {
      base: { slug: to.slug, version: 1 },
      head: { slug: to.slug, version: 3 },
    })
    const revision = `/references/${bot.slug}.revision/application_revision`
    expect(body.diff.patch).to.deep.include.members([
      { op: 'replace', path: `${revision}/id`, value: bot.revisions[1].id },
      { op: 'replace', path: `${revision}/version`, value: 2 },
    ])
    expect(body.diff.files.map(({ path }: any) => path)).to.deep.equal(['references.json'])
  })
})
