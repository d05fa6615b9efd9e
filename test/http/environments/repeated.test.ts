import { expect } from 'chai'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { startEnvironments } from './environment-client.ts'

describe('environments: requests that are repeated under an Idempotency-Key', () => {
  let client: EnvironmentClient
  let bot: Made
  let to: MadeEnvironment
  let keys = 0
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())
  beforeEach(async () => {
    bot = await client.application(2)
    to = await client.environment()
  })

  /** What a crash between the last write of the work and the note of its result leaves. */
  function forgetResults(): void {
    const folder = join(client.service.storeDir, 'default/idempotency')
    for (const name of readdirSync(folder).filter((it) => it.endsWith('.json'))) {
      const { result: _, ...intent } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      writeFileSync(join(folder, name), JSON.stringify(intent))
    }
  }

  const commitOf = () => ({
    application_revision: {
      application_variant_id: bot.variantId,
      ...client.applications.payload('n3'),
      deploy: [to.slug, 'staging'],
    },
  })
  const operations: readonly (readonly [string, () => readonly [path: string, body: object]])[] = [
    [
      'a deployment of the latest',
      () => [
        '/applications/revisions/deploy',
        { application_ref: { id: bot.id }, environment_ref: { id: to.id } },
      ],
    ],
    [
      'a deployment of a revision',
      () => [
        '/applications/revisions/deploy',
        { application_revision_ref: { id: bot.revisions[0].id }, environment_ref: { id: to.id } },
      ],
    ],
    ['a commit that is deployed', () => ['/applications/revisions/commit', commitOf()]],
    [
      'a commit that is deployed, if something changed',
      () => ['/applications/revisions/commit', { ...commitOf(), if_changed: true }],
    ],
    [
      'a commit of data',
      () => [
        '/environments/revisions/commit',
        { environment_revision: { environment_variant_id: to.variantId, data: {} } },
      ],
    ],
    ['guard', () => [`/simple/environments/${to.id}/guard`, {}]],
  ]

  for (const [name, request] of operations) {
    for (const how of ['remembered', 'found again after a crash'] as const) {
      it(`${name}: the first answer again, ${how}, though more was committed and deployed since`, async () => {
        const [path, body] = request()
        const headers = { 'idempotency-key': `key ${++keys}` }
        const first = await client.service.post(path, body, headers)
        expect(first.status, first.text).to.equal(200)
        const next = await client.applications.committed(bot.variantId, client.applications.payload('n9'))
        await client.deployed(to.slug, { application_revision_ref: { id: next.id } })
        if (how !== 'remembered') forgetResults()
        const before = client.refs()
        const again = await client.service.post(path, body, headers)
        expect(again.status, again.text).to.equal(200)
        // A flat record shows the latest revision, which another request made.
        if (name !== 'guard') expect(again.body).to.deep.equal(first.body)
        expect(client.refs()).to.deep.equal(before)
      })
    }
  }

  for (const how of ['remembered', 'found again after a crash'] as const) {
    it(`a commit that had nothing to commit and deployed the latest: the first answer again, ${how}`, async () => {
      const { application_revision: fields } = commitOf()
      await client.service.post('/applications/revisions/commit', {
        application_revision: { ...fields, deploy: ['staging'] },
      })
      const headers = { 'idempotency-key': `nightly ${++keys}` }
      const send = () =>
        client.service.post('/applications/revisions/commit', { ...commitOf(), if_changed: true }, headers)
      const first = await send()
      expect(first.body, first.text).to.deep.include({ changed: false })
      expect(first.body.deployments.map((it: any) => [it.environment, it.changed])).to.deep.equal([
        [to.slug, true],
        ['staging', false],
      ])
      const next = await client.applications.committed(bot.variantId, client.applications.payload('n9'))
      await client.deployed(to.slug, { application_revision_ref: { id: next.id } })
      if (how !== 'remembered') forgetResults()
      const before = client.refs()
      const again = await send()
      expect(again.status, again.text).to.equal(200)
      expect(again.body).to.deep.equal(first.body)
      expect(client.refs()).to.deep.equal(before)
    })
  }

  it('a deployment that changes nothing is remembered as such', async () => {
    const [path, body] = operations[1]?.[1]() ?? expect.fail()
    const headers = { 'idempotency-key': 'nothing to do' }
    await client.service.post(path, body)
    const first = await client.service.post(path, body, headers)
    await client.deployed(to.slug, { application_ref: { id: bot.id } })
    const again = await client.service.post(path, body, headers)
    expect(again.body).to.deep.equal(first.body)
    expect(await client.latest(to.slug)).to.include({ version: 2 })
  })

  it('a key of one deployment is refused with another', async () => {
    const headers = { 'idempotency-key': 'once' }
    await client.deploy(to.slug, { application_ref: { id: bot.id } }, headers)
    const other = await client.deploy(to.slug, { application_ref: { id: bot.id }, key: 'qa' }, headers)
    expectRefusal(other, 422, 'idempotency_key_reused')
  })

  it('a refused deployment may be sent again under its key once it can be done', async () => {
    const headers = { 'idempotency-key': 'later' }
    const send = () => client.deploy('comes-later', { application_ref: { id: bot.id } }, headers)
    expectRefusal(await send(), 404, 'environment_not_found')
    await client.environment({ slug: 'comes-later' })
    expect((await send()).status).to.equal(200)
  })

  it('of twenty at once under one key one is done', async () => {
    const headers = { 'idempotency-key': 'twenty' }
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => client.deploy(to.slug, { application_ref: { id: bot.id } }, headers)),
    )
    expect(new Set(replies.map(({ text }) => text)).size).to.equal(1)
    expect(await client.latest(to.slug)).to.include({ version: 1 })
  })
})
