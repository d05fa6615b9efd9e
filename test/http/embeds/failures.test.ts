import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { embed, type EmbedClient, longEmbed, ok, startEmbeds } from './embed-client.ts'

/** An embed that fails: what stands at `at`, how it is refused, what the sentence says, and the name clients know. */
interface Failure {
  readonly token: unknown
  readonly status: 404 | 422
  readonly code: string
  readonly words: readonly string[]
  readonly name: string
  /** As `details` has them; as the sentence has them, too. */
  readonly references: object
  /** Where a soft policy says that it failed: the target whose data that is, if it is let pass there. */
  readonly inside?: string
}

const UNKNOWN = '0190a000-0000-7000-8000-000000000001'
const tone = { workflow: { slug: 'tone' } }
const prod = { environment: { slug: 'prod' } }

const notFound = (token: unknown, references: object, ...words: string[]): Failure => ({
  ...{ token, references, words, status: 404, code: 'embed_not_found', name: 'EmbedNotFoundError' },
})
const noPath = (token: unknown, references: object, ...words: string[]): Failure => ({
  ...{ token, references, words, status: 422, code: 'embed_path_not_found', name: 'PathExtractionError' },
})
const cycle = (token: unknown, references: object, ...words: string[]): Failure => ({
  ...{ token, references, words, status: 422, code: 'embed_cycle', name: 'CircularEmbedError' },
})
const invalid = (code: string, name: string, references: object, ...words: string[]): Failure => ({
  ...{ token: embed(references), references, words, status: 422, code: `embed_${code}`, name },
})

const gone = { workflow: { slug: 'gone' } }
const FAILURES: Readonly<Record<string, Failure>> = {
  'an artifact that is not there': notFound(embed(gone), gone, '"gone"'),
  'one in text': notFound('x @{{workflow.slug=gone}} y', gone, '"gone"'),
  'an unknown id': notFound(
    embed({ evaluator_revision: { id: UNKNOWN } }),
    { evaluator_revision: { id: UNKNOWN } },
    UNKNOWN,
  ),
  'a version that is not there': notFound(
    longEmbed('workflow_revision.slug=tone, workflow_revision.version=9'),
    { workflow_revision: { slug: 'tone', version: '9' } },
    'version 9',
  ),
  'a version that is no number': notFound(
    embed({ workflow_revision: { slug: 'tone', version: 'v1' } }),
    { workflow_revision: { slug: 'tone', version: 'v1' } },
    '"v1"',
  ),
  'a revision without data': notFound(
    embed({ workflow: { slug: 'empty' } }),
    { workflow: { slug: 'empty' } },
    'no data',
  ),
  'an artifact without revisions': notFound(embed({ workflow: { slug: 'bare' } }), {
    workflow: { slug: 'bare' },
  }),
  'a variant that is not there': notFound(
    embed({ workflow_variant: { slug: 'gone' } }),
    { workflow_variant: { slug: 'gone' } },
    'variant',
  ),
  'a slug that nothing can have': notFound(
    embed({ workflow: { slug: 'a..b' } }),
    { workflow: { slug: 'a..b' } },
    '"a..b"',
  ),
  'an environment that is not there': notFound('@{{environment.slug=gone}}', {
    environment: { slug: 'gone' },
  }),
  'a key that an environment has not': notFound(
    '@{{environment.slug=prod, key=gone}}',
    prod,
    '"gone"',
    '"tone.revision"',
  ),
  'a key of what is no environment': notFound(embed(tone, { key: 'a' }), tone, '"a"', 'no environment'),
  'an environment with nothing in it': notFound(embed({ environment: { slug: 'staging' } }), {
    environment: { slug: 'staging' },
  }),
  'a path in dot notation': noPath(embed(tone, { path: 'parameters.x.y' }), tone, 'parameters.x.y'),
  'a path with brackets': noPath(embed(tone, { path: 'parameters[0]' }), tone, 'brackets'),
  'a pointer': noPath(embed(tone, { path: '/parameters/x' }), tone, '/parameters/x'),
  'a JSONPath': noPath(embed(tone, { path: '$.parameters.x' }), tone, '$.parameters.x'),
  'the path that form C takes by itself': noPath(
    '@{{workflow.slug=tone}}',
    tone,
    'prompt.messages.0.content',
  ),
  'a circle of two': cycle(
    embed({ workflow: { slug: 'ping' } }),
    { workflow: { slug: 'ping' } },
    'ping-1 -> pong-1 -> ping-1',
  ),
  'a circle of one': cycle(
    embed({ workflow: { slug: 'self' } }),
    { workflow: { slug: 'self' } },
    'self-1 -> self-1',
  ),
  'a circle in text': {
    ...cycle(
      '@{{workflow.slug=talk, path=}}',
      { workflow: { slug: 'talk' } },
      'talk-1 -> talk-1',
      'in "talk-1"',
    ),
    inside: 'in "talk-1", data.parameters.next',
  },
  'several entities': invalid(
    'mixed_entities',
    'MixedEntityTypesError',
    { workflow: { slug: 'tone' }, environment_revision: { version: '1' } },
    'workflow, environment',
  ),
  'an entity that has no embeds': invalid(
    'unsupported_entity',
    'UnsupportedReferenceTypeError',
    { testset_revision: { slug: 'x' } },
    '"testset_revision"',
  ),
  'a level that is none': invalid('unsupported_entity', 'UnsupportedReferenceTypeError', {
    workflow_prototype: { slug: 'x' },
  }),
  'a version of nothing': invalid(
    'incomplete',
    'RetrieveRefsInsufficient',
    { workflow_revision: { version: '1' } },
    'version 1',
  ),
  'a level twice': invalid(
    'contradictory',
    'RetrieveRefsInconsistent',
    { workflow: { slug: 'tone' }, workflow_artifact: { slug: 'tone' } },
    'artifact twice',
  ),
  'no references': {
    ...invalid('invalid', 'ValueError', {}, '@svc.references'),
    token: { '@svc.embed': { '@svc.references': {} } },
  },
  'one of several pins without a key': {
    ...invalid('invalid', 'ValueError', { environment: { slug: 'two' } }, '"a", "b"'),
    token: '@{{environment.slug=two}}',
  },
}

describe('embeds: failures', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    const { service } = client
    await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await ok(service.post('/workflows/', { workflow: { slug: 'bare' } }))
    const { workflow } = await ok(service.post('/workflows/', { workflow: { slug: 'empty' } }))
    const { workflow_variant: variant } = await ok(
      service.post('/workflows/variants/', { workflow_variant: { workflow_id: workflow.id } }),
    )
    await ok(
      service.post('/workflows/revisions/', { workflow_revision: { workflow_variant_id: variant.id } }),
    )
    await client.snippet({ next: embed({ workflow: { slug: 'pong' } }) }, { slug: 'ping' })
    await client.snippet({ next: embed({ workflow: { slug: 'ping' } }) }, { slug: 'pong' })
    await client.snippet({ next: embed({ workflow: { slug: 'self' } }) }, { slug: 'self' })
    await client.snippet({ next: '@{{workflow.slug=talk, path=}}' }, { slug: 'talk' })
    await client.snippet({ a: { b: `${longEmbed('workflow.slug=gone')}` } }, { slug: 'broken' })
    await client.deploy('prod', { workflow_ref: { slug: 'tone' } })
    await client.deploy('two', { workflow_ref: { slug: 'tone' }, key: 'a' })
    await client.deploy('two', { workflow_ref: { slug: 'tone' }, key: 'b' })
  })
  after(() => client.stop())

  for (const [what, { token, status, code, words, name, references, inside }] of Object.entries(FAILURES)) {
    const parameters = { ok: 1, list: [{ 'a.b': token }] }

    // interface 10.12
    it(`${what}: ${status} ${code} says where, which and why`, async () => {
      const reply = await client.refused(parameters)
      expectRefusal(reply, status, code, 'data.parameters.list.0.a.b', ...words)
      expect(reply.body.detail).to.include(JSON.stringify(references))
      const { location, references: told } = reply.body.details
      expect(location.slice(0, 4)).to.deep.equal(['parameters', 'list', 0, 'a.b'])
      if (code !== 'embed_cycle') expect([location.length, told]).to.deep.equal([4, references])
    })

    // interface 10.12
    it(`${what}: ${name} as placeholder, itself when kept`, async () => {
      const placeholder = await client.resolved(parameters, { error_policy: 'placeholder' })
      const keep = await client.resolved(parameters, { error_policy: 'keep' })
      expect(JSON.stringify(placeholder.parameters)).to.include(`<error:${name}>`)
      expect(placeholder.parameters.ok).to.equal(1)
      for (const { info } of [placeholder, keep]) {
        // What is kept inside a target comes in as text, and is met there again.
        expect(info.errors).to.have.length(info === keep.info && inside !== undefined ? 2 : 1)
        expect(info.errors[0])
          .to.include(inside ?? 'data.parameters.list.0.a.b')
          .and.include(JSON.stringify(references))
      }
      if (code === 'embed_cycle') return // what came in until then stays
      expect(placeholder.parameters.list).to.deep.equal([{ 'a.b': `<error:${name}>` }])
      expect(keep.parameters).to.deep.equal(parameters)
    })
  }

  // interface 10.11
  it('a circle is told by its revisions', async () => {
    const { details } = (await client.refused({ x: embed({ workflow: { slug: 'ping' } }) })).body
    expect(details.cycle.map(({ slug }: any) => slug)).to.deep.equal(['ping-1', 'pong-1', 'ping-1'])
    const stored = await client.resolve({ workflow_ref: { slug: 'ping' } })
    expectRefusal(stored, 422, 'embed_cycle', 'ping-1 -> pong-1 -> ping-1')
    expect(stored.body.details.location).to.deep.equal(['parameters', 'next', 'parameters', 'next'])
  })

  it('a failure inside a target names it, and the embed that led there', async () => {
    const reply = await client.refused({ t: '@{{workflow.slug=broken, path=a.b}}' })
    expectRefusal(
      reply,
      404,
      'embed_not_found',
      'data.parameters.t embeds',
      'in "broken-1", data.parameters.a.b embeds',
      '"gone"',
    )
    expect(reply.body.details).to.deep.equal({
      location: ['parameters', 't'],
      references: { workflow: { slug: 'broken' } },
    })
    const object = await client.refused({ o: embed({ workflow: { slug: 'broken' } }) })
    expectRefusal(object, 404, 'embed_not_found', 'data.parameters.o.parameters.a.b', '"gone"')
    expect(object.body.details.references).to.deep.equal({ workflow: { slug: 'gone' } })
  })

  it('of two tokens in one text, what was done before the failure stays under keep', async () => {
    const parameters = {
      t: '@{{workflow.slug=tone, path=voice}} @{{workflow.slug=gone}} @{{workflow.slug=tone, path=voice}}',
    }
    const kept = await client.resolved(parameters, { error_policy: 'keep' })
    expect(kept.parameters.t).to.equal('calm @{{workflow.slug=gone}} @{{workflow.slug=tone, path=voice}}')
    expect(kept.info).to.include({ embeds_resolved: 1 })
  })

  it('an embed that stands too deep is refused whatever the policy', async () => {
    let deep: unknown = embed(tone)
    for (let level = 0; level < 100; level++) deep = [deep]
    await client.snippet({ deep }, { slug: 'deep-1' })
    await client.snippet(JSON.parse(JSON.stringify({ deep }).replace('tone', 'deep-1')), { slug: 'deep-2' })
    const parameters = JSON.parse(JSON.stringify({ deep }).replace('tone', 'deep-2'))
    for (const policy of ['exception', 'keep', 'placeholder']) {
      const reply = await client.refused(parameters, { error_policy: policy })
      expectRefusal(reply, 422, 'embed_too_large', '256')
    }
  })

  it('what an embed brings in is bounded, however small the request', async () => {
    await client.snippet({ big: 'x'.repeat(2 ** 19) }, { slug: 'big' })
    const list = Array.from({ length: 40 }, () => embed({ workflow: { slug: 'big' } }))
    expectRefusal(await client.refused({ list }), 422, 'embed_too_large', 'data.parameters.list.3')
  })

  it('a JSONPath looks at so many values and no more, since others wait for it', async () => {
    await client.snippet({ rows: Array.from({ length: 60_000 }, () => 0) }, { slug: 'rows' })
    const at = (path: string) => ({
      x: { '@svc.embed': { '@svc.references': { workflow: { slug: 'rows' } }, '@svc.selector': { path } } },
    })
    expectRefusal(await client.refused(at('$..*')), 422, 'embed_too_large', '50000 values')
    const { parameters } = await client.resolved(at('$.parameters.rows[59999]'))
    expect(parameters.x).to.equal(0)
  })
})
