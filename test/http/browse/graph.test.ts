import { expect } from 'chai'
import type { Reply } from '../../support/servers/service.ts'
import { git } from '../../support/git/git-program.ts'
import { expectRefusal, SurfaceClient } from '../conformance/surface-client.ts'
import { testedSurfaces } from '../conformance/tested-surface.ts'
import type { EnvironmentClient } from '../environments/environment-client.ts'
import { startEnvironments } from '../environments/environment-client.ts'

interface Node {
  readonly id: string
  readonly commit: string
  readonly parents: readonly string[]
  readonly variant?: { readonly id: string; readonly slug: string }
  readonly version: number
  readonly subject: string
  readonly author: string
  readonly date: string
  readonly refs: readonly { readonly kind: string; readonly name: string }[]
}

describe('POST /<x>s/graph', () => {
  let client: EnvironmentClient
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())

  const ask = (slug: string, windowing?: object): Promise<Reply> =>
    client.service.post('/applications/graph', { application_ref: { slug }, windowing })

  const nodesOf = async (slug: string, windowing?: object): Promise<readonly Node[]> => {
    const { status, text, body } = await ask(slug, windowing)
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(body.nodes.length)
    return body.nodes
  }

  const commitOn = (slug: string, branch: string, parents: readonly string[], date: string): string => {
    const tree = client.gitOf(slug, 'rev-parse', `${slug}^{tree}`)
    const ident = `Ann <ann@example.com> ${Date.parse(date) / 1000} +0000`
    const lines = [
      `tree ${tree}`,
      ...parents.map((it) => `parent ${it}`),
      `author ${ident}`,
      `committer ${ident}`,
      `\nOn ${branch}\n\nMore of it.\n`,
    ]
    const repository = client.service.repository(slug)
    const oid = git(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], lines.join('\n'))
    client.gitOf(slug, 'update-ref', `refs/heads/${branch}`, oid)
    return oid
  }

  // interface 6.14
  it('answers at every surface what the revisions of the artifact are', async () => {
    for (const surface of testedSurfaces) {
      const own = new SurfaceClient(surface, () => client.service)
      const { slug, variantId, revisions } = await own.made(2, { slug: `drawn_${surface.path}` })
      const reply = await own.post('/graph', own.wrap('_ref', { slug }))
      expect(reply.status, reply.text).to.equal(200)
      const [second, first] = own.git(slug, 'log', '--format=%H', `refs/heads/${slug}`).split('\n')
      const [older, newer] = revisions
      const shared = { variant: { id: variantId, slug }, author: newer.author }
      expect(reply.body, surface.path).to.deep.equal({
        count: 2,
        nodes: [
          {
            ...{ id: newer.id, commit: second, parents: [first], version: 2, subject: 'Count 2' },
            ...{ ...shared, date: newer.date, refs: [{ kind: 'variant', name: slug }] },
          },
          {
            ...{ id: older.id, commit: first, parents: [], version: 1, subject: 'Count 1' },
            ...{ ...shared, date: older.date, refs: [] },
          },
        ],
      })
    }
  })

  // interface 6.14
  it('shows forks at their homes, merges with both parents, and what tags and environments name', async () => {
    const { slug, variantId, revisions } = await client.application(2)
    const forked = await client.applications.post('/variants/fork', {
      application_variant: { slug: `${slug}.warm`, name: 'Warm' },
      application_variant_id: variantId,
    })
    expect(forked.status, forked.text).to.equal(200)
    const warm = forked.body.application_variant
    const place = await client.environment()
    await client.deployed(place.slug, { application_revision_ref: { id: revisions[0].id } })
    client.gitOf(slug, 'tag', '-a', '-m', 'Calm', 'calm', `${slug}~1`)
    const head = client.gitOf(slug, 'rev-parse', slug)
    const onFork = commitOn(slug, `${slug}.warm`, [head], '2040-01-01T00:00:00Z')
    // Made by somebody who never pushed the branch it was on.
    const aside = commitOn(slug, 'gone', [head], '2041-01-01T00:00:00Z')
    client.gitOf(slug, 'update-ref', '-d', 'refs/heads/gone')
    const merge = commitOn(slug, slug, [head, onFork, aside], '2042-01-01T00:00:00Z')
    const nodes = await nodesOf(slug)
    expect(nodes.map(({ commit }) => commit)).to.deep.equal(
      client.gitOf(slug, 'log', '--date-order', '--branches', '--format=%H').split('\n'),
    )
    const [merged, unpushed, onWarm, second, first] = nodes
    const home = { id: variantId, slug }
    expect(merged).to.deep.include({
      commit: merge,
      parents: [head, onFork, aside],
      version: 3,
      variant: home,
    })
    expect(merged).to.deep.include({ subject: `On ${slug}`, refs: [{ kind: 'variant', name: slug }] })
    expect(unpushed).to.deep.include({ commit: aside, version: 3, refs: [] }).and.not.have.property('variant')
    expect(onWarm).to.deep.include({ version: 3, variant: { id: warm.id, slug: warm.slug } })
    expect(second).to.deep.include({ id: revisions[1].id, variant: home, refs: [] })
    expect(first?.refs).to.have.deep.members([
      { kind: 'tag', name: 'calm' },
      { kind: 'environment', name: place.slug },
    ])
  })

  it('shows no commit behind its parents, whatever the clocks of their authors said', async () => {
    const { slug } = await client.application(1)
    const root = client.gitOf(slug, 'rev-parse', slug)
    const late = commitOn(slug, slug, [root], '2050-01-01T00:00:00Z')
    const early = commitOn(slug, slug, [late], '1990-01-01T00:00:00Z')
    commitOn(slug, `${slug}.b`, [late], '2020-01-01T00:00:00Z')
    const commits = (await nodesOf(slug)).map(({ commit }) => commit)
    expect(commits.indexOf(early)).to.be.below(commits.indexOf(late))
    expect(commits.at(-1)).to.equal(root)
  })

  it('pages without a gap, also while commits join, and follows refs that move back', async () => {
    const { slug, variantId, revisions } = await client.application(5)
    const first = await ask(slug, { limit: 2 })
    expect(first.body.windowing).to.deep.equal({ limit: 2, next: revisions[3].id })
    await client.applications.commit(variantId, { message: 'Later', data: { parameters: {} } })
    const second = await nodesOf(slug, { limit: 2, next: first.body.windowing.next })
    expect(second.map(({ version }) => version)).to.deep.equal([3, 2])
    const last = await ask(slug, { limit: 2, next: second[1]?.id })
    expect(last.body).to.include({ count: 1 }).and.not.have.property('windowing')
    client.gitOf(slug, 'update-ref', `refs/heads/${slug}`, `${slug}~4`)
    expect((await nodesOf(slug)).map(({ version }) => version)).to.deep.equal([2, 1])
  })

  it('says what signatures are worth, where it is asked to', async () => {
    const { slug } = await client.application(1)
    const asked = { application_ref: { slug }, include_signatures: true }
    const { status, text, body } = await client.service.post('/applications/graph', asked)
    expect(status, text).to.equal(200)
    expect(body.nodes[0].signature).to.deep.equal({ status: 'none' })
    expectRefusal(
      await client.service.post('/applications/graph', { ...asked, include_signatures: 'yes' }),
      422,
      'invalid_request',
      'body.include_signatures',
    )
  })

  it('says what of a commit is archived: itself, the variant that holds it, or the artifact', async () => {
    const bot = await client.application(2, { slug: 'shelved' })
    const archived = async (): Promise<unknown> =>
      (await nodesOf('shelved')).map((it) => (it as { archived?: string }).archived)
    expect(await archived()).to.deep.equal([undefined, undefined])
    const [, second] = bot.revisions
    for (const [path, said] of [
      [`revisions/${second.id}`, ['revision', undefined]],
      [`variants/${bot.variantId}`, ['variant', 'variant']],
      [bot.id, ['artifact', 'artifact']],
    ] as const) {
      await client.service.post(`/applications/${path}/archive`, {})
      expect(await archived(), path).to.deep.equal(said)
    }
  })

  it('answers nothing of an artifact without revisions', async () => {
    await client.service.post('/applications', { application: { slug: 'bare' } })
    expect((await ask('bare')).body).to.deep.equal({ count: 0, nodes: [] })
  })

  it('refuses, naming the field', async () => {
    const { slug } = await client.application(1)
    const other = await client.application(1)
    for (const next of [other.revisions[0].id, '01a1fbb1-f5c2-86ee-83de-4bacd1c878f6'])
      expectRefusal(
        await ask(slug, { next }),
        422,
        'invalid_request',
        'body.windowing.next',
        'previous answer',
      )
    expect((await ask(slug, { next: other.id })).body.errors[0].type).to.equal('invalid_cursor')
    expectRefusal(await ask(slug, { next: 'x' }), 422, 'invalid_request', 'body.windowing.next')
    expectRefusal(await ask(slug, { limit: 0 }), 422, 'invalid_request', 'body.windowing.limit')
    expectRefusal(await ask(slug, { order: 'ascending' }), 422, 'unknown_field', 'body.windowing.order')
    expectRefusal(await ask('nobody'), 404, 'artifact_not_found', 'nobody')
    expectRefusal(
      await client.service.post('/applications/graph', {}),
      422,
      'invalid_request',
      'body.application_ref',
    )
  })
})
