import { expect } from 'chai'
import type { Made } from '../conformance/surface-client.ts'
import type { Reply } from '../../support/servers/service.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { eventually, startEnvironments } from './environment-client.ts'

describe('environments: poll', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  // Entity tags depend on where clients reach the server, which a port of its own would change at every start.
  before(async () => (client = await startEnvironments({ env: { PUBLIC_URL: 'http://registry.test' } })))
  after(() => client.stop())
  beforeEach(async () => {
    bot = await client.application(3)
    to = await client.environment()
    await deployVersion(1)
  })

  const deployVersion = (version: number, more: object = {}): Promise<unknown> =>
    client.deployed(to.slug, { application_revision_ref: { id: bot.revisions[version - 1].id }, ...more })

  const forms: readonly (readonly [string, (etag?: string) => Promise<Reply>])[] = [
    [
      'POST',
      (etag) =>
        client.service.post(
          '/applications/revisions/retrieve',
          { environment_ref: { slug: to.slug }, application_ref: { slug: bot.slug } },
          etag === undefined ? {} : { 'if-none-match': etag },
        ),
    ],
    [
      'GET',
      (etag) =>
        client.service.get(
          `/applications/revisions/retrieve?environment_ref.slug=${to.slug}&key=${bot.slug}.revision`,
          etag === undefined ? {} : { 'if-none-match': etag },
        ),
    ],
  ]

  for (const [form, ask] of forms) {
    describe(form, () => {
      const tagOf = async (): Promise<string> => {
        const reply = await ask()
        expect(reply.status, reply.text).to.equal(200)
        expect(reply.headers.get('cache-control')).to.equal('private, no-cache')
        return reply.headers.get('etag') ?? expect.fail('no entity tag')
      }
      /** Expects that what the tag was for is there still. */
      const unmoved = async (etag: string): Promise<void> => {
        const reply = await ask(etag)
        expect([reply.status, reply.text]).to.deep.equal([304, ''])
        expect(reply.headers.get('etag')).to.equal(etag)
      }
      /** Expects an answer with another tag, and answers it. */
      const moved = async (etag: string): Promise<any> => {
        const reply = await ask(etag)
        expect(reply.status).to.equal(200)
        expect(reply.headers.get('etag')).to.not.equal(etag)
        return reply.body
      }

      it('gets 304 while nothing moves', async () => {
        const etag = await tagOf()
        for (let round = 0; round < 3; round++) await unmoved(etag)
      })

      it('gets the new revision after a deployment, and the old tag works again after none', async () => {
        const etag = await tagOf()
        await deployVersion(2)
        const body = await moved(etag)
        expect(body.application_revision.version).to.equal(2)
        expect(body.retrieval_info.references.environment_revision.version).to.equal(2)
        await unmoved(await tagOf())
      })

      it('of the same revision deployed again in between is another answer: the environment moved', async () => {
        const etag = await tagOf()
        await deployVersion(2)
        await deployVersion(1)
        const body = await moved(etag)
        expect(body.application_revision.version).to.equal(1)
        expect(body.retrieval_info.references.environment_revision.version).to.equal(3)
      })

      it('is not woken by what is deployed elsewhere, or committed and not deployed', async () => {
        const etag = await tagOf()
        await client.deployed('staging', { application_ref: { id: bot.id } })
        await client.applications.committed(bot.variantId, client.applications.payload('n4'))
        await client.service.put(`/environments/${to.id}`, { environment: { name: 'Renamed' } })
        await unmoved(etag)
      })

      it('sees an edit of the header of the application, its archiving, and the end of it', async () => {
        let etag = await tagOf()
        await client.applications.put(`/${bot.id}`, { application: { flags: { is_snippet: true } } })
        const body = await moved(etag)
        expect(body.application_revision.flags).to.include({ is_snippet: true })
        etag = await tagOf()
        await client.applications.archive('/revisions', bot.revisions[0].id)
        expect((await moved(etag)).application_revision).to.have.property('deleted_at')
      })

      it('sees the deployment taken back by an archived revision of the environment, and by a delta', async () => {
        await deployVersion(2)
        const etag = await tagOf()
        const { id } = await client.latest(to.slug)
        await client.service.post(`/environments/revisions/${id}/archive`)
        expect((await moved(etag)).application_revision.version).to.equal(1)
        await client.committed(to, { delta: { remove: [`${bot.slug}.revision`] } })
        expect((await ask(etag)).status).to.equal(404)
        await deployVersion(3)
        expect((await moved(etag)).application_revision.version).to.equal(3)
      })
    })
  }

  it('gets 304 from a server that was started since', async () => {
    const [, ask] = forms[0] ?? expect.fail()
    const etag = (await ask()).headers.get('etag') ?? ''
    await client.restart()
    expect((await ask(etag)).status).to.equal(304)
  })

  it('the tag of another way to the same revision is another one', async () => {
    const tags = new Set<string | null>()
    for (const references of [
      { environment_ref: { slug: to.slug }, key: `${bot.slug}.revision` },
      { application_revision_ref: { id: bot.revisions[0].id } },
    ]) {
      tags.add((await client.retrieve(references)).headers.get('etag'))
    }
    await client.deployed('production', { application_revision_ref: { id: bot.revisions[0].id } })
    tags.add((await client.retrieve({ environment_ref: { slug: 'production' } })).headers.get('etag'))
    const elsewhere = { environment_ref: { slug: to.slug }, key: `${bot.slug}.revision` }
    tags.add((await client.surface('workflow').retrieve(elsewhere)).headers.get('etag'))
    expect(tags.size).to.equal(4)
  })

  it('a pin that names a variant is followed: a commit is seen at once, what git does soon', async () => {
    const references = { bot: { application_variant: { id: bot.variantId } } }
    await client.committed(to, { data: { references } })
    const through = { environment_ref: { slug: to.slug }, key: 'bot' }
    const version = async (): Promise<number> => (await client.retrieved(through)).version
    expect(await version()).to.equal(3)
    await client.applications.committed(bot.variantId, client.applications.payload('n4'))
    expect(await version()).to.equal(4)
    client.gitOf(bot.slug, 'update-ref', `refs/heads/${bot.slug}`, `${bot.slug}~2`)
    await eventually(async () => (await version()) === 2, 'the variant is at version 2')
  })
})
