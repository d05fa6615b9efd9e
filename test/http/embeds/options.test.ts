import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { embed, type EmbedClient, longEmbed, ok, startEmbeds } from './embed-client.ts'

describe('embeds: limits and error policy of a request', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm', n: 1 }, { slug: 'level-0' })
    for (let level = 1; level <= 10; level++) {
      const next = embed({ workflow: { slug: `level-${level - 1}` } }, { path: 'parameters' })
      await client.snippet({ next }, { slug: `level-${level}` })
    }
  })
  after(() => client.stop())

  /** Parameters with a chain of so many embeds. */
  const chain = (embeds: number) => ({ top: embed({ workflow: { slug: `level-${embeds - 1}` } }) })
  const many = (embeds: number) => ({
    list: Array.from({ length: embeds }, () =>
      embed({ workflow: { slug: 'level-0' } }, { path: 'parameters.n' }),
    ),
  })

  it('depth: a chain must stay below max_depth, of embeds in embeds in any form', async () => {
    for (const [maxDepth, embeds] of [
      [2, 1],
      [3, 2],
      [10, 9],
      [11, 10],
    ] as const) {
      const { info } = await client.resolved(chain(embeds), { max_depth: maxDepth })
      expect(info).to.include({ depth_reached: embeds, embeds_resolved: embeds })
      const refused = await client.refused(chain(embeds), { max_depth: maxDepth - 1 })
      expectRefusal(
        refused,
        422,
        'embed_depth_exceeded',
        'data.parameters.top',
        `max_depth is ${maxDepth - 1}`,
      )
    }
    const text = { t: '@{{workflow.slug=level-3, path=next}}' }
    expect((await client.resolved(text, { max_depth: 5 })).info.depth_reached).to.equal(4)
    expectRefusal(await client.refused(text, { max_depth: 4 }), 422, 'embed_depth_exceeded', 'level-3')
  })

  // interface 10.10
  it('number: all embeds together may equal max_embeds', async () => {
    expect((await client.resolved(many(5), { max_embeds: 5 })).info.embeds_resolved).to.equal(5)
    expectRefusal(
      await client.refused(many(5), { max_embeds: 2 }),
      422,
      'embed_limit_exceeded',
      'data.parameters.list.2',
      'the 2 that max_embeds allows',
    )
    const nested = { a: '@{{workflow.slug=level-2, path=next}}', b: '@{{workflow.slug=level-2, path=next}}' }
    expect((await client.resolved(nested, { max_embeds: 6 })).info.embeds_resolved).to.equal(6)
    expectRefusal(await client.refused(nested, { max_embeds: 5 }), 422, 'embed_limit_exceeded')
  })

  // interface 10.10
  it('0 and null mean the defaults, 10 and 100', async () => {
    for (const none of [0, null, undefined]) {
      const options = { max_depth: none, max_embeds: none }
      expect((await client.resolved(many(100), options)).info.embeds_resolved).to.equal(100)
      expectRefusal(await client.refused(many(101), options), 422, 'embed_limit_exceeded', '100')
      expect((await client.resolved(chain(9), options)).info.depth_reached).to.equal(9)
      expectRefusal(await client.refused(chain(10), options), 422, 'embed_depth_exceeded', '10')
    }
  })

  it('negative, broken, too large and other things are 422 at their field', async () => {
    for (const [options, field] of [
      [{ max_depth: -1 }, 'body.max_depth'],
      [{ max_depth: 101 }, 'body.max_depth'],
      [{ max_depth: 1.5 }, 'body.max_depth'],
      [{ max_depth: '5' }, 'body.max_depth'],
      [{ max_embeds: -1 }, 'body.max_embeds'],
      [{ max_embeds: 10_001 }, 'body.max_embeds'],
      [{ max_embeds: true }, 'body.max_embeds'],
      [{ error_policy: 'KEEP' }, 'body.error_policy'],
      [{ error_policy: '' }, 'body.error_policy'],
      [{ error_policy: 'constructor' }, 'body.error_policy'],
      [{ error_policy: 1 }, 'body.error_policy'],
    ] as const) {
      expectRefusal(await client.refused({}, options), 422, 'invalid_request', field)
    }
    const huge = '{"workflow_revision": {"data": {"parameters": {}}}, "max_embeds": 1e400}'
    expectRefusal(
      await client.service.post('/workflows/revisions/resolve', huge),
      422,
      'invalid_request',
      'body.max_embeds',
    )
    await client.resolved({}, { max_depth: 100, max_embeds: 10_000, error_policy: 'exception' })
    await client.resolved({}, { error_policy: null })
  })

  it('past max_embeds, a soft policy fails the embeds past it and answers', async () => {
    const keep = await client.resolved(many(3), { max_embeds: 2, error_policy: 'keep' })
    expect(keep.parameters.list).to.deep.equal([1, 1, many(1).list[0]])
    expect(keep.info.errors).to.have.length(1)
    const placeholder = await client.resolved(many(3), { max_embeds: 2, error_policy: 'placeholder' })
    expect(placeholder.parameters.list).to.deep.equal([1, 1, '<error:MaxEmbedsExceededError>'])
  })

  it('depth at the top is refused whatever the policy; inside an embed in text it fails that', async () => {
    for (const policy of ['keep', 'placeholder']) {
      const options = { max_depth: 1, error_policy: policy }
      expectRefusal(await client.refused(chain(1), options), 422, 'embed_depth_exceeded')
    }
    const { parameters } = await client.resolved(
      { t: '@{{workflow.slug=level-3, path=next}}' },
      { max_depth: 3, error_policy: 'placeholder' },
    )
    expect(parameters).to.deep.equal({ t: '<error:MaxDepthExceededError>' })
  })
})

describe('embeds: what resolution_info counts (section 10)', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet(
      {
        object: embed({ workflow: { slug: 'tone' } }, { path: 'parameters' }),
        text: longEmbed('workflow.slug=tone', 'path=parameters.voice'),
      },
      { slug: 'wrap' },
    )
    await client.snippet(
      { deep: longEmbed('workflow.slug=wrap', 'path=parameters.object.voice') },
      { slug: 'deep' },
    )
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
  })
  after(() => client.stop())

  const tone = { workflow: { slug: 'tone' } }
  const wrap = { workflow: { slug: 'wrap' } }
  const toneVoice = longEmbed('workflow.slug=tone', 'path=parameters.voice')
  const CASES: Readonly<Record<string, readonly [object, object, number, number, readonly object[]]>> = {
    'no embed': [{ a: 1 }, { a: 1 }, 0, 0, []],
    'one embed': [{ a: embed(tone) }, { a: { parameters: { voice: 'calm' } } }, 1, 1, [tone]],
    'object -> object': [
      { a: embed(wrap, { path: 'parameters.object' }) },
      { a: { voice: 'calm' } },
      2,
      2,
      [wrap, tone],
    ],
    'two embeds of one target on one level': [
      { a: embed(tone, { path: 'parameters.voice' }), b: embed(tone, { path: 'parameters' }) },
      { a: 'calm', b: { voice: 'calm' } },
      2,
      1,
      [tone, tone],
    ],
    'two tokens in one string': [{ a: `${toneVoice} ${toneVoice}` }, { a: 'calm calm' }, 2, 1, [tone, tone]],
    'string -> string': [
      { a: longEmbed('workflow.slug=wrap', 'path=parameters.text') },
      { a: 'calm' },
      2,
      2,
      [wrap],
    ],
    'object -> string': [{ a: embed(wrap, { path: 'parameters.text' }) }, { a: 'calm' }, 2, 2, [wrap, tone]],
    'string -> object': [
      { a: longEmbed('workflow.slug=wrap', 'path=parameters.object.voice') },
      { a: 'calm' },
      2,
      2,
      [wrap],
    ],
    'object -> string -> object': [
      { a: embed({ workflow: { slug: 'deep' } }, { path: 'parameters.deep' }) },
      { a: 'calm' },
      3,
      3,
      [{ workflow: { slug: 'deep' } }, wrap],
    ],
    'an environment without key': [
      { a: embed({ environment: { slug: 'prod' } }, { path: '/references/tone.revision/workflow/slug' }) },
      { a: 'tone' },
      1,
      1,
      [{ environment: { slug: 'prod' } }],
    ],
    'through an environment': [
      { a: '@{{environment.slug=prod, path=voice}}' },
      { a: 'calm' },
      1,
      1,
      [{ environment: { slug: 'prod' } }],
    ],
  }
  for (const [name, [before, after, resolved, depth, used]] of Object.entries(CASES)) {
    it(name, async () => {
      const { parameters, info } = await client.resolved(before)
      expect(parameters).to.deep.equal(after)
      expect(info).to.deep.equal({
        references_used: used,
        depth_reached: depth,
        embeds_resolved: resolved,
        errors: [],
      })
    })
  }

  // interface 10.13
  it('references as they are spelled, form A before B before C, nothing of a failed one', async () => {
    const { workflow_revision: revision } = await ok(
      client.service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'tone' } }),
    )
    const { info } = await client.resolved(
      {
        c: '@{{workflow.slug=tone, workflow_revision.version=1, path=voice}}',
        b: toneVoice,
        a: embed({ application_revision: { id: revision.id, version: null } }),
        gone: embed({ workflow: { slug: 'gone' } }),
      },
      { error_policy: 'keep' },
    )
    expect(info.references_used).to.deep.equal([
      { application_revision: { id: revision.id } },
      tone,
      { workflow: { slug: 'tone' }, workflow_revision: { version: '1' } },
    ])
    expect(info.errors).to.have.length(1)
    expect(info.errors[0]).to.include('data.parameters.gone').and.include('"gone"')
  })

  // interface 10.11
  it('a diamond is no circle', async () => {
    const { parameters, info } = await client.resolved({ a: embed(tone), b: embed(wrap) })
    expect(parameters.b.parameters).to.deep.equal({ object: { voice: 'calm' }, text: 'calm' })
    expect(info).to.include({ embeds_resolved: 4, depth_reached: 2 })
  })
})
