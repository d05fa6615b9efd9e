import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { hastyFs } from '../../support/disk/hasty-fs.ts'
import { cloneOf } from '../../support/git/git-client.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'

const prompt = (model: string, text = 'Hi') => ({
  uri: 'svc:builtin:completion:v0',
  parameters: { prompt: { messages: [{ role: 'user', content: text }], llm_config: { model } } },
})

describe('lists of artifacts: the latest of each', () => {
  let service: RunningService
  let time = Date.parse('2026-01-01T00:00:00Z')
  before(async () => {
    service = await startService({ fs: hastyFs, now: () => new Date((time += 10_000)) })
    for (const slug of ['one', 'two', 'three']) await create(slug, prompt('gpt-4o-mini'), `folder-${slug}`)
    await ok(service.post('/applications/', { application: { slug: 'empty' } }))
  })
  after(() => service.stop())

  const ok = async (asked: Promise<Reply>): Promise<any> => {
    const { status, text, body } = await asked
    expect(status, text).to.equal(200)
    return body
  }
  const create = (slug: string, data: object, folder?: string): Promise<any> =>
    ok(service.post('/simple/applications/', { application: { slug, folder, data } }))
  const commit = (slug: string, data: object, more: object = {}): Promise<any> =>
    ok(
      service.post('/applications/revisions/commit', {
        application_revision_commit: { application_variant_ref: { slug }, data, ...more },
      }),
    )
  const list = async (body: object, headers = {}): Promise<any[]> =>
    (await ok(service.post('/applications/query', body, headers))).applications
  const slugs = async (order: string, more: object = {}): Promise<string[]> =>
    (await list({ windowing: { order, ...more } })).map(({ slug }) => slug)

  // interface 2.19
  it('by their last change, an edit or a new version', async () => {
    expect(await slugs('-updated')).to.deep.equal(['empty', 'three', 'two', 'one'])
    await commit('one', prompt('gpt-5'), { message: 'Another model' })
    expect(await slugs('-updated')).to.deep.equal(['one', 'empty', 'three', 'two'])
    await ok(service.put('/applications/three', { application: { description: 'Later' } }))
    expect(await slugs('-updated')).to.deep.equal(['three', 'one', 'empty', 'two'])
    expect(await slugs('updated')).to.deep.equal(['two', 'empty', 'one', 'three'])
    // A page goes on where the one before ended.
    const { body } = await service.post('/applications/query', {
      windowing: { order: '-updated', limit: 2 },
    })
    expect(await slugs('-updated', { next: body.windowing.next })).to.deep.equal(['empty', 'two'])
    // By git, too, and on other variants.
    await ok(
      service.post('/applications/variants/fork', {
        application_variant: { slug: 'two-b' },
        application_variant_ref: { slug: 'two' },
      }),
    )
    await commit('two-b', prompt('o3'))
    expect((await slugs('-updated'))[0]).to.equal('two')
    const flat = await ok(service.post('/simple/applications/query', { windowing: { order: '-updated' } }))
    expect(flat.applications.map(({ slug }: any) => slug)).to.deep.equal(['two', 'three', 'one', 'empty'])
  })

  // interface 2.35
  it('with its model, author and date, and where it runs', async () => {
    for (const [version, environment] of [
      [1, 'production'],
      [2, 'staging'],
    ] as const)
      await ok(
        service.post('/applications/revisions/deploy', {
          application_revision_ref: { slug: 'one', version },
          environment_ref: { slug: environment },
        }),
      )
    const rows = new Map((await list({ include_latest: true })).map((row) => [row.slug, row]))
    const { latest, deployments } = rows.get('one')
    expect(latest).to.include({
      ...{ slug: 'one-2', version: 2, model: 'gpt-5', subject: 'Another model' },
      author: 'admin <admin@branchpoint.local>',
    })
    expect(Date.parse(latest.date)).to.be.below(time)
    expect(
      deployments.map(({ environment, revision }: any) => [environment, revision.slug]),
    ).to.have.deep.members([
      ['production', 'one-1'],
      ['staging', 'one-2'],
    ])
    expect(rows.get('two').latest).to.include({ slug: 'two-1', model: 'gpt-4o-mini' })
    expect(rows.get('two')).to.not.have.property('deployments')
    expect(rows.get('empty')).to.not.have.any.keys('latest', 'deployments')
    const [plain] = await list({})
    expect(plain).to.not.have.any.keys('latest', 'deployments')
    for (const kind of ['testsets', 'environments', 'queries', 'evaluators', 'workflows'])
      expect((await service.post(`/${kind}/query`, { include_latest: true })).status, kind).to.equal(200)
    expect((await service.post('/applications/variants/query', { include_latest: true })).status).to.equal(
      422,
    )
    const clone = await cloneOf(service, 'two')
    clone.write('data.json', 'no JSON')
    await clone.commit('Break it')
    await clone.git('push', '-q', 'origin', 'HEAD:two').catch(() => undefined)
    expect((await list({ include_latest: true })).map(({ slug }) => slug)).to.include('two')
  })

  // interface 2.35
  it('that an environment runs, beside other filters', async () => {
    const deployed = async (application: object): Promise<string[]> =>
      (await list({ application })).map(({ slug }) => slug)
    expect(await deployed({ deployed_to: 'production' })).to.deep.equal(['one'])
    expect(await deployed({ deployed_to: 'development' })).to.deep.equal([])
    expect(await deployed({ deployed_to: 'production', folder: 'folder-one' })).to.deep.equal(['one'])
    expect(await deployed({ deployed_to: 'production', folder: 'folder-two' })).to.deep.equal([])
    expect(await deployed({ deployed_to: 'production', text: 'one' })).to.deep.equal(['one'])
    expect(await deployed({ deployed_to: 'production', text: 'two' })).to.deep.equal([])
    const { status, body } = await service.post('/applications/query', {
      application: { deployed_to: 'nowhere' },
    })
    expect([status, body.code]).to.deep.equal([404, 'artifact_not_found'])
    expect(
      (await service.post('/environments/query', { environment: { deployed_to: 'production' } })).status,
    ).to.equal(422)
  })

  // interface 18.6
  it('of what a limited key sees alone', async () => {
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      ...{ project: 'default', name: 'limited', scopes: ['read'], folders: ['folder-two'] },
    })
    const limited = { authorization: `ApiKey ${token}` }
    const rows = await list({ include_latest: true, windowing: { order: '-updated' } }, limited)
    expect(rows.map(({ slug }) => slug)).to.deep.equal(['two'])
    expect(await list({ application: { deployed_to: 'production' } }, limited)).to.deep.equal([])
  })
})
