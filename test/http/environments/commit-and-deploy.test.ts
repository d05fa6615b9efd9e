import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { Reply } from '../../support/servers/service.ts'
import type { Made } from '../conformance/surface-client.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import type { EnvironmentClient, MadeEnvironment } from './environment-client.ts'
import { deployedSurfaces, digitsOf, startEnvironments } from './environment-client.ts'

describe('environments: commit and deploy in one write', () => {
  let client: EnvironmentClient
  let bot: Made
  let one: MadeEnvironment
  let two: MadeEnvironment
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())
  beforeEach(async () => {
    bot = await client.application(1)
    one = await client.environment()
    two = await client.environment()
  })

  const commit = (
    deploy: readonly unknown[],
    more: object = {},
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply> =>
    client.applications.commit(
      bot.variantId,
      { ...client.applications.payload('new'), message: 'New', deploy, ...more },
      headers,
    )
  const trailers = (text: string): string[] =>
    text.split('\n').filter((line) => /^(?:Variant|Slug|Deploy[-A-Za-z]*): /.test(line))

  // interface 9.6
  it('makes a commit in each repository, that say what they belong to, and moves the mirrors', async () => {
    await client.deployed(one.slug, { application_ref: { id: bot.id } })
    const { body } = await commit([one.slug, two.slug])
    const { application_revision: made } = body
    expect(made).to.include({ version: 2, slug: `${bot.slug}-2`, message: 'New' })
    expect(trailers(client.gitOf(bot.slug, 'log', '-1', '--format=%B'))).to.deep.equal([
      `Variant: ${bot.slug}`,
      `Deploy: ${one.slug}, ${two.slug}`,
    ])
    for (const [{ slug }, version, from] of [
      [one, 2, [`Deploy-From: ${bot.slug}-1 ${bot.revisions[0].id}`]],
      [two, 1, []],
    ] as const) {
      const latest = await client.latest(slug)
      expect(latest).to.include({ version, message: 'New' })
      expect(latest.data.references[`${bot.slug}.revision`]).to.deep.equal({
        application: { id: bot.id, slug: bot.slug },
        application_variant: { id: bot.variantId, slug: bot.slug },
        application_revision: { id: made.id, slug: `${bot.slug}-2`, version: 2 },
      })
      const [by, ...others] = trailers(client.git(slug, 'log', '-1', '--format=%B')).reverse()
      expect(by).to.match(/^Deploy-By: /)
      expect(others.reverse()).to.deep.equal([
        `Variant: ${slug}`,
        `Deploy-Key: ${bot.slug}.revision`,
        ...from,
        `Deploy-To: ${bot.slug}-2 ${made.id}`,
      ])
      expect(client.mirror(bot.slug, slug)?.slice(0, 12)).to.equal(digitsOf(made.id))
      expect((await client.retrieved({ environment_ref: { slug } })).id).to.equal(made.id)
    }
  })

  for (const { path, singular } of deployedSurfaces) {
    it(`through /${path} the pin has its names`, async () => {
      const surface = client.surface(singular)
      const made = await surface.made(1, { slug: `also-${path}` })
      await surface.committed(made.variantId, { ...surface.payload('x'), deploy: [one.slug] })
      const group = (await client.pins(one.slug))[`also-${path}.revision`]
      expect(Object.keys(group)).to.deep.equal([singular, `${singular}_variant`, `${singular}_revision`])
    })
  }

  it('of a delta, with a slug, as the first revision, to an environment without a variant', async () => {
    const empty = await client.application(0)
    await client.service.post('/environments/', { environment: { slug: 'no-variant' } })
    const first = await client.applications.committed(empty.variantId, {
      ...client.applications.payload('n1'),
      slug: 'launch',
      deploy: ['no-variant'],
    })
    expect(first).to.include({ version: 1, slug: 'launch' })
    const key = `${empty.slug}.revision`
    const pinned = async () => (await client.pins('no-variant'))[key].application_revision
    expect(await pinned()).to.deep.equal({ id: first.id, slug: 'launch', version: 1 })
    expect(client.git('no-variant', 'log', '-1', '--format=%(trailers:key=Deploy-To,valueonly)')).to.include(
      `launch ${first.id}`,
    )
    const second = await client.applications.committed(empty.variantId, {
      delta: { set: { parameters: { n2: true } } },
      deploy: ['no-variant'],
    })
    expect(await pinned()).to.deep.equal({ id: second.id, slug: `${empty.slug}-2`, version: 2 })
  })

  it('an environment named twice gets one revision, none named is a plain commit', async () => {
    await commit([one.slug, one.slug])
    expect(await client.latest(one.slug)).to.include({ version: 1 })
    await commit([])
    expect(client.gitOf(bot.slug, 'log', '-1', '--format=%(trailers:key=Deploy)')).to.equal('')
  })

  it('at once from many clients: every revision is deployed once, and the last one is there', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => commit(n % 2 ? [one.slug, two.slug] : [two.slug, one.slug])),
    )
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200]))
    for (const { slug } of [one, two]) {
      const log = client.git(slug, 'log', '--format=%(trailers:key=Deploy-To,valueonly,separator=)')
      const versions = log.split('\n').map((line) => Number(/-(\d+) /.exec(line)?.[1]))
      expect(versions).to.deep.equal(Array.from({ length: 12 }, (_, n) => 13 - n))
      expect(client.mirror(bot.slug, slug)).to.equal(client.gitOf(bot.slug, 'rev-parse', 'HEAD'))
    }
  })

  describe('refused, with nothing stored anywhere:', () => {
    const refused = async (
      request: () => Promise<Reply>,
      ...expected: readonly [number, string, ...string[]]
    ): Promise<void> => {
      const before = client.refs()
      expectRefusal(await request(), ...expected)
      expect(client.refs()).to.deep.equal(before)
    }
    const bare = async (): Promise<string> =>
      (await client.service.post('/environments/', { environment: {} })).body.environment.slug

    it('an archived environment among them', async () => {
      const first = await bare()
      await client.service.post(`/environments/${two.id}/archive`)
      await refused(() => commit([first, one.slug, two.slug]), 409, 'archived', two.slug)
    })
    it('an archived environment without a variant', async () => {
      const { body } = await client.service.post('/environments/', { environment: {} })
      await client.service.post(`/environments/${body.environment.id}/archive`)
      await refused(() => commit([one.slug, body.environment.slug]), 409, 'archived')
    })
    it('a guarded environment among them', async () => {
      const first = await bare()
      const writer = await client.keyOf('write')
      await client.service.post(`/simple/environments/${two.id}/guard`)
      await refused(() => commit([first, one.slug, two.slug], {}, writer), 403, 'guarded', two.slug)
    })
    it('a missing environment among them', () =>
      refused(() => commit([one.slug, 'nowhere']), 404, 'environment_not_found', 'nowhere'))
    it('slugs that are none', async () => {
      for (const slug of ['../x', '', 7, null]) {
        await refused(() => commit([slug]), 422, 'invalid_request', 'deploy')
      }
    })
    it('too many environments', () =>
      refused(() => commit(Array.from({ length: 21 }, (_, n) => `place_${n}`)), 422, 'invalid_request', '20'))
    it('a payload that cannot be stored', async () => {
      const first = await bare()
      await refused(() => commit([first], { data: { nonsense: 1 } }), 422, 'unknown_field')
    })
    it('a base that is no longer the latest', async () => {
      const first = await bare()
      await commit([])
      const base_revision_id = bot.revisions[0].id
      await refused(() => commit([first, one.slug], { base_revision_id }), 409, 'revision_conflict')
    })
    it('a slug that is taken', async () => {
      await commit([], { slug: `taken-${bot.slug}` })
      await refused(() => commit([one.slug], { slug: `taken-${bot.slug}` }), 409, 'slug_taken')
    })
    it('an archived variant', async () => {
      await client.applications.archive('/variants', bot.variantId)
      await refused(() => commit([one.slug]), 409, 'archived')
    })
    it('a testset', async () => {
      const { body } = await client.service.post('/simple/testsets/', { testset: {} })
      const fields = { testset_id: body.testset.id, data: { testcases: [] }, deploy: [one.slug] }
      await refused(
        () => client.service.post('/testsets/revisions/commit', { testset_revision: fields }),
        422,
        'invalid_request',
        'deploy',
      )
    })
  })
})

describe('environments: commit and deploy on a disk that fails', () => {
  const REFS = [
    'environments/production.git/refs/heads/production',
    'environments/staging.git/refs/heads/staging',
    'workflows/bot.git/refs/heads/bot',
  ]
  /** What of a path every rename to it fails at. */
  let failsAt: string | undefined
  let hasFailed = false
  let client: EnvironmentClient
  let bot: Made
  before(async () => {
    const fs: Fs = {
      ...nodeFs,
      rename: (from, to) => {
        if (failsAt === undefined || !to.endsWith(failsAt)) return nodeFs.rename(from, to)
        hasFailed = true
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'rename' })
      },
    }
    client = await startEnvironments({ fs })
    bot = await client.application(1, { slug: 'bot' })
  })
  after(() => client.stop())

  // interface 9.6, 15.8
  it('is everywhere or nowhere once a server was started again, wherever it failed', async () => {
    for (const ref of REFS) {
      failsAt = ref
      const application_revision = {
        application_variant_id: bot.variantId,
        ...client.applications.payload('new'),
        deploy: ['production', 'staging'],
      }
      const reply = await client.service.post('/applications/revisions/commit', { application_revision })
      expect([reply.status, reply.body.code], reply.text).to.deep.equal([503, 'storage_unavailable'])
      expect(hasFailed).to.equal(true)
      hasFailed = false
      failsAt = undefined
      await client.restart(() => disown(client.service.storeDir))
      const made = client.gitOf('bot', 'log', '--format=%H', 'bot').split('\n').slice(0, -1)
      for (const slug of ['production', 'staging']) {
        const format = '--format=%(trailers:key=Deploy-To,valueonly,separator=)'
        const heads = client.git(slug, 'for-each-ref', '--format=%(objectname)', 'refs/heads')
        const deployed = heads === '' ? [] : client.git(slug, 'log', format).split('\n')
        expect(deployed.map((line) => digitsOf(line.split(' ')[1] ?? ''))).to.deep.equal(
          made.map((oid) => oid.slice(0, 12)),
        )
        expect(client.mirror('bot', slug)).to.equal(made[0])
      }
    }
  })
})

/** Makes what this process left behind, its journal and its locks, that of a process that is dead. */
function disown(storeDir: string): void {
  for (const path of readdirSync(storeDir, { recursive: true, encoding: 'utf8' })) {
    if (!/(?:^\.journal|\/locks)\/[^/]+$/.test(path)) continue
    const dead = path.replace(`.${process.pid}.`, '.999999999.')
    if (dead !== path) renameSync(join(storeDir, path), join(storeDir, dead))
  }
}
