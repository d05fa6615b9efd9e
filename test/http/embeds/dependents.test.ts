import { expect } from 'chai'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { askDependents, dependentsIn } from './ask-dependents.ts'
import { embed, type EmbedClient, longEmbed, ok, startEmbeds } from './embed-client.ts'

/** In a store of each test's own, since an answer depends on all that there is; in memory, since those are many. */
describe('embeds: dependents', () => {
  let client: EmbedClient
  beforeEach(async () => (client = await startEmbeds({ fs: memoryFs(), storeDir: '/store' })))
  afterEach(() => client.stop())

  const ask = (body: object, plural?: string) => askDependents(client, body, plural)
  const dependentsOf = (body: object, plural?: string) => dependentsIn(client, body, plural)

  it('an embed of any form, with its places; a deployment, with its keys', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const host = await client.make(
      {
        script: 'be("@{{workflow.slug=tone, path=voice}}")',
        parameters: {
          list: [1, embed({ evaluator_revision: { slug: 'tone', version: '1' } })],
          't/x': `${longEmbed(`application_variant.id=${tone.variantId}`)} @{{workflow_revision.id=${tone.revisionId}}}`,
          other: embed({ workflow: { slug: 'gone' } }),
          inert: embed({ workflow: { slug: 'tone', version: true } }),
        },
      },
      { slug: 'host', of: 'application' },
    )
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
    await client.deploy('prod', { workflow_ref: { slug: 'tone' }, key: 'second' })
    const { count, dependents, ...more } = await ok(ask({ workflow_ref: { slug: 'tone' } }))
    expect([count, more]).to.deep.equal([2, {}])
    const [embedding, deploying] = [
      dependents.find(({ kind }: any) => kind === 'embed'),
      dependents.find(({ kind }: any) => kind === 'deployment'),
    ]
    expect(embedding).to.deep.equal({
      kind: 'embed',
      workflow: { id: host.id, slug: 'host' },
      workflow_variant: { id: host.variantId, slug: 'host' },
      workflow_revision: { id: host.revisionId, slug: 'host-1', version: 1 },
      locations: [['script'], ['parameters', 'list', 1], ['parameters', 't/x'], ['parameters', 't/x']],
    })
    expect(deploying).to.have.all.keys(
      'kind',
      'environment',
      'environment_variant',
      'environment_revision',
      'keys',
    )
    expect(deploying.environment.slug).to.equal('prod')
    expect(deploying.environment_revision).to.include({ slug: 'prod-2', version: 2 })
    expect(deploying.keys).to.deep.equal(['tone.revision', 'second'])
    for (const surface of ['application', 'evaluator'])
      expect(await ok(ask({ [`${surface}_ref`]: { id: tone.id } }, `${surface}s`))).to.deep.equal({
        count,
        dependents,
      })
  })

  it('the same once the index says what embeds nothing, and what comes to embed something', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'host' })
    const plain = await client.snippet({ t: 'nothing of it' }, { slug: 'plain' })
    const asked = { workflow_ref: { id: tone.id } }
    const before = await dependentsOf(asked)
    expect(before).to.deep.equal(['host-1: parameters/t'])
    // A search takes in what is new.
    await ok(client.service.post('/search', { query: 'calm' }))
    expect(await dependentsOf(asked)).to.deep.equal(before)
    await client.commit(plain, { parameters: { t: '@{{workflow.slug=tone}}' } })
    const both = [...before, 'plain-2: parameters/t']
    expect((await dependentsOf(asked)).sort()).to.deep.equal(both)
    await ok(client.service.post('/search', { query: 'calm' }))
    expect((await dependentsOf(asked)).sort()).to.deep.equal(both)
  })

  it('a reference counts by what it leads to now: artifact, variant, revision, version', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const side = await client.fork(tone, 'side')
    const first = { id: tone.revisionId }
    await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'a-latest' })
    await client.snippet(
      { t: embed({ workflow_revision: { slug: 'tone', version: '1' } }) },
      { slug: 'b-pinned' },
    )
    await client.snippet({ t: embed({ workflow_variant: { slug: 'side' } }) }, { slug: 'c-side' })
    await client.deploy('prod', { workflow_revision_ref: first })
    const all = [
      'a-latest-1: parameters/t',
      'b-pinned-1: parameters/t',
      'c-side-1: parameters/t',
      'prod-1: tone.revision',
    ]
    const [latest, pinned, onSide, deployed] = all

    expect(await sorted(dependentsOf({ workflow_revision_ref: first }))).to.deep.equal(all)
    expect(await sorted(dependentsOf({ workflow_ref: { slug: 'tone' } }))).to.deep.equal(all)

    const second = await client.commit(tone, { parameters: { voice: 'cross' } }, { slug: 'cross' })
    const third = await client.commit({ ...tone, variantId: side.id }, { parameters: { voice: 'mild' } })
    const onFirst = [pinned, deployed]
    for (const [references, expected] of [
      [{ workflow_revision_ref: first }, onFirst],
      [{ workflow_revision_ref: { slug: 'tone', version: 1 } }, onFirst],
      [{ workflow_revision_ref: { slug: 'tone-1' } }, onFirst],
      [{ workflow_ref: { slug: 'tone', version: 1 } }, onFirst],
      [{ workflow_variant_ref: { slug: 'tone', version: '1' } }, onFirst],
      [{ workflow_revision_ref: { id: second.id } }, [latest]],
      [{ workflow_revision_ref: { slug: 'cross' } }, [latest]],
      [{ workflow_revision_ref: { id: third.id } }, [onSide]],
      [{ workflow_ref: { slug: 'tone' } }, all],
      [{ workflow_ref: { id: tone.id } }, all],
      [{ workflow_variant_ref: { slug: 'side' } }, [onSide]],
      [{ workflow_variant_ref: { id: tone.variantId } }, [latest, pinned, deployed]],
      [{ workflow_variant_ref: { slug: 'side' }, workflow_ref: { slug: 'tone' } }, [onSide]],
      [{ environment_ref: { slug: 'prod' } }, onFirst],
      [{ environment_ref: { slug: 'prod' }, key: 'tone.revision' }, onFirst],
      [{ environment_ref: { slug: 'prod' }, workflow_ref: { slug: 'tone' } }, onFirst],
    ] as const) {
      expect(await sorted(dependentsOf(references)), JSON.stringify(references)).to.deep.equal(expected)
    }
  })

  it('a variant beside less specific references is asked about whole', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet(
      { t: embed({ workflow_revision: { slug: 'tone', version: '1' } }) },
      { slug: 'pinned' },
    )
    await client.commit(tone, { parameters: { voice: 'cross' } })
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
    for (const beside of [
      { workflow_ref: { slug: 'tone', version: 2 } },
      { environment_ref: { slug: 'prod' } },
    ]) {
      const asked = { workflow_variant_ref: { slug: 'tone' }, ...beside }
      expect(await sorted(dependentsOf(asked)), JSON.stringify(asked)).to.deep.equal([
        'pinned-1: parameters/t',
        'prod-1: tone.revision',
      ])
    }
  })

  it('what goes through an environment depends on it and on what it has deployed, by key or as its only pin', async () => {
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet({ voice: 'other' }, { slug: 'other' })
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
    await client.snippet(
      {
        a: embed({ environment: { slug: 'prod' } }, { key: 'tone.revision' }),
        b: longEmbed('environment_revision.slug=prod-1', 'key=tone.revision'),
        c: '@{{environment.slug=prod}}',
        map: embed({ environment: { slug: 'prod' } }),
        none: '@{{environment.slug=prod, key=}}',
      },
      { slug: 'host' },
    )
    const through = 'host-1: parameters/a parameters/b parameters/c'
    expect(await sorted(dependentsOf({ workflow_ref: { slug: 'tone' } }))).to.deep.equal([
      through,
      'prod-1: tone.revision',
    ])
    expect(await dependentsOf({ environment_ref: { slug: 'prod' } }, 'environments')).to.deep.equal([
      `${through} parameters/map parameters/none`,
    ])

    await client.deploy('prod', { workflow_ref: { slug: 'other' }, key: 'tone.revision' })
    expect(await sorted(dependentsOf({ workflow_ref: { slug: 'tone' } }))).to.deep.equal([
      'host-1: parameters/b',
    ])
    expect(await sorted(dependentsOf({ workflow_ref: { slug: 'other' } }))).to.deep.equal([
      'host-1: parameters/a parameters/c',
      'prod-2: tone.revision',
    ])
    await client.deploy('prod', { workflow_ref: { slug: 'tone' }, key: 'more' })
    expect(await sorted(dependentsOf({ workflow_ref: { slug: 'other' } }))).to.deep.equal([
      'host-1: parameters/a',
      'prod-3: tone.revision',
    ])
    expect(
      await dependentsOf({ environment_revision_ref: { slug: 'prod', version: 1 } }, 'environments'),
    ).to.deep.equal(['host-1: parameters/b'])
  })

  it('a revision that is no variant’s latest counts as long as it is deployed', async () => {
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const host = await client.snippet({ t: '@{{workflow.slug=tone, path=voice}}' }, { slug: 'host' })
    await client.deploy('prod', { workflow_ref: { slug: 'host' } })
    const second = await client.commit(host, { parameters: { t: 'calm' } })
    const tone = { workflow_ref: { slug: 'tone' } }
    expect(await dependentsOf(tone)).to.deep.equal(['host-1: parameters/t'])
    await client.deploy('prod', { workflow_revision_ref: { id: second.id } })
    expect(await dependentsOf(tone)).to.deep.equal([])
  })

  it('what does not embed it any more, and what does not deploy it any more, is gone', async () => {
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const host = await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'host' })
    const { environment } = await ok(
      client.service.post('/simple/environments/', {
        environment: { slug: 'prod', data: { references: { a: { workflow: { slug: 'tone' } } } } },
      }),
    )
    const tone = { workflow_ref: { slug: 'tone' } }
    expect(await sorted(dependentsOf(tone))).to.deep.equal(['host-1: parameters/t', 'prod-1: a'])
    await client.commit(host, { parameters: {} })
    expect(await dependentsOf(tone)).to.deep.equal(['prod-1: a'])
    await ok(
      client.service.post('/environments/revisions/commit', {
        environment_revision_commit: {
          environment_variant_id: environment.variant_id,
          delta: { remove: ['a'] },
        },
      }),
    )
    expect(await dependentsOf(tone)).to.deep.equal([])
  })

  it('every variant’s latest revision is looked at, what two variants share once', async () => {
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const host = await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'host' })
    const side = await client.fork(host, 'side')
    const tone = { workflow_ref: { slug: 'tone' } }
    expect(await dependentsOf(tone)).to.have.length(1)
    await client.commit({ ...host, variantId: side.id }, { parameters: { u: '@{{workflow.slug=tone}}' } })
    expect(await sorted(dependentsOf(tone))).to.deep.equal(['host-1: parameters/t', 'side-2: parameters/u'])
  })

  it('what is archived is left out unless it is asked for', async () => {
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    const tone = { workflow_ref: { slug: 'tone' } }
    const old = await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'old' })
    const host = await client.snippet({}, { slug: 'host' })
    const side = await client.fork(host, 'side')
    await client.commit({ ...host, variantId: side.id }, { parameters: { t: '@{{workflow.slug=tone}}' } })
    await client.deploy('prod', tone)
    const { environments } = await ok(
      client.service.post('/environments/query', { environment: { slug: 'prod' } }),
    )
    const all = ['old-1: parameters/t', 'prod-1: tone.revision', 'side-2: parameters/t']
    expect(await sorted(dependentsOf(tone))).to.deep.equal(all)
    await client.archive(`/workflows/${old.id}`)
    await client.archive(`/workflows/variants/${side.id}`)
    await client.archive(`/environments/${environments[0].id}`)
    expect(await dependentsOf(tone)).to.deep.equal([])
    expect(await dependentsOf({ ...tone, include_archived: false })).to.deep.equal([])
    expect(await sorted(dependentsOf({ ...tone, include_archived: true }))).to.deep.equal(all)
    await ok(client.service.post(`/workflows/${old.id}/unarchive`))
    expect(await dependentsOf(tone)).to.deep.equal(['old-1: parameters/t'])
  })
})

async function sorted(list: Promise<string[]>): Promise<string[]> {
  return (await list).sort()
}
