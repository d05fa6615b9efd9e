import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient } from '../environments/environment-client.ts'
import { startEnvironments } from '../environments/environment-client.ts'

describe('GET /projects/current', () => {
  let client: EnvironmentClient
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())

  const project = async (headers?: Readonly<Record<string, string>>) => {
    const { status, text, body } = await client.service.get('/projects/current', headers)
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(1)
    return body.project
  }

  // interface 13.7
  it('counts what is not archived, as each surface lists it, and names the environments', async () => {
    const before = await project()
    expect(before).to.include({ name: 'default' })
    expect(before.environments).to.include.members(['development', 'staging', 'production'])
    const { id } = await client.application(1)
    await client.surface('evaluator').made(1, { slug: 'judge' })
    await client.service.post('/testsets', { testset: { slug: 'rows' } })
    const place = await client.environment()
    const after = await project()
    const { applications, evaluators, workflows, testsets, environments, queries } = before.counts
    expect(after.counts).to.deep.equal({
      ...{ applications: applications + 1, evaluators: evaluators + 1, workflows: workflows + 2 },
      ...{ testsets: testsets + 1, environments: environments + 1, queries },
    })
    expect(after.environments).to.deep.equal([...before.environments, place.slug])
    await client.service.post(`/applications/${id}/archive`)
    await client.service.post(`/environments/${place.id}/archive`)
    const archived = await project()
    expect(archived.counts).to.deep.include({ applications, workflows: workflows + 1, environments })
    expect(archived.environments).to.deep.equal(before.environments)
  })

  it('shows the ten newest revisions of all families, newest first', async () => {
    await client.application(12)
    await client.surface('evaluator').made(2, { slug: 'other_judge' })
    const found = (await project()).newest
    expect(found).to.have.length(10)
    const all: { id: string; slug: string; version: number; date: string }[] = []
    for (const path of ['workflows', 'testsets', 'environments', 'queries']) {
      const { body } = await client.service.post(`/${path}/revisions/query`, { windowing: { limit: 20 } })
      const [, rows] =
        Object.entries<any>(body).find(([name]) => name.endsWith('_revisions')) ?? expect.fail(path)
      all.push(...rows)
    }
    const dates = new Map(all.map((it) => [it.id, it.date]))
    const shown = found.map(({ id }: { id: string }) => dates.get(id))
    expect(shown).to.deep.equal([...dates.values()].sort().reverse().slice(0, 10))
    const { id, slug, version } = all.find((it) => it.id === found[0].id) ?? expect.fail('is none')
    expect(found[0]).to.deep.equal({ id, slug, version })
  })

  // interface 13.7, 14.2
  it('says who asks, and what that key may do', async () => {
    expect(await project()).to.deep.include({
      scopes: ['admin'],
      principal: { id: 'key:admin', kind: 'key', name: 'admin' },
    })
    const made = await client.service.post('/keys', { key: { name: 'ci', scopes: ['read', 'write'] } })
    const { id, secret } = made.body.key
    expect(await project({ authorization: `ApiKey ${secret}` })).to.deep.include({
      scopes: ['read', 'write'],
      principal: { id: `key:${id}`, kind: 'key', name: 'ci' },
    })
  })

  it('is refused to a key that may not read, and with what nobody reads', async () => {
    const headers = await client.keyOf('write')
    expectRefusal(await client.service.get('/projects/current', headers), 403, 'missing_scope', 'read')
    expectRefusal(await client.service.get('/projects/current?name=x'), 422, 'unknown_field', 'query.name')
  })
})
