import { expect } from 'chai'
import { type ErrorPolicy, resolveEmbeds } from '../../../src/registry/embeds/resolve-embeds.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { memoryTargets } from './memory-targets.ts'
import { refusalOf } from './refusal-of.ts'
import { longToken, objectToken, shortToken } from './tokens.ts'

const WORKFLOWS = {
  tone: { parameters: { voice: 'calm' } },
  broken: {
    parameters: { half: `<${shortToken('tone', 'voice')}${shortToken('gone')}>`, inner: objectToken('gone') },
  },
  loop: { parameters: { next: shortToken('loop', 'next') } },
}

const resolve = (
  data: JsonObject,
  errorPolicy: ErrorPolicy,
  limits: { maxDepth?: number; maxEmbeds?: number } = {},
) => resolveEmbeds(data, memoryTargets(WORKFLOWS), { maxDepth: 10, maxEmbeds: 100, errorPolicy, ...limits })

describe('embeds: error policies', () => {
  const host = {
    ok: 1,
    bad: objectToken('gone'),
    s: `x ${shortToken('gone')} y ${longToken('tone', 'parameters.voice')} z ${shortToken('tone', 'voice')}`,
    good: shortToken('tone', 'voice'),
  }

  it('exception refuses with code, place and references', async () => {
    const refusal = await refusalOf(resolve(host, 'exception'))
    expect(refusal.code).to.equal('embed_not_found')
    expect(refusal.message).to.equal(
      'data.bad embeds {"workflow_revision":{"slug":"gone"}}: There is no gone.',
    )
    expect(refusal.data.details).to.deep.equal({
      location: ['bad'],
      references: { workflow_revision: { slug: 'gone' } },
    })
  })

  it('exception says in whose data an inner embed stands', async () => {
    const refusal = await refusalOf(resolve({ a: { b: [shortToken('broken', 'inner')] } }, 'exception'))
    expect(refusal.message).to.equal(
      'data.a.b.0 embeds {"workflow_revision":{"slug":"broken"}}: in "broken", data.parameters.inner embeds ' +
        '{"workflow_revision":{"slug":"gone"}}: There is no gone.',
    )
    expect(refusal.data.details).to.have.deep.property('location', ['a', 'b', 0])
    const inObject = await refusalOf(resolve({ a: objectToken('broken') }, 'exception'))
    expect(inObject.data.details).to.have.deep.property('location', ['a', 'parameters', 'inner'])
  })

  it('placeholder puts a name in place of the whole value', async () => {
    const { data, info } = await resolve(host, 'placeholder')
    expect(data).to.deep.equal({
      ok: 1,
      bad: '<error:EmbedNotFoundError>',
      s: '<error:EmbedNotFoundError>',
      good: 'calm',
    })
    expect(info.errors).to.have.length(2)
    expect(info.errors[0]).to.contain('data.bad')
    expect(info.errors[1]).to.contain('data.s')
  })

  it('keep leaves the token and those after it, and what is done stays done', async () => {
    const { data, info } = await resolve(host, 'keep')
    expect(data).to.deep.equal({
      ...host,
      s: `x ${shortToken('gone')} y calm z ${shortToken('tone', 'voice')}`,
      good: 'calm',
    })
    expect(info.errors).to.have.length(2)
  })

  it('counts nothing for what fails', async () => {
    for (const errorPolicy of ['placeholder', 'keep'] as const) {
      const { info } = await resolve({ bad: objectToken('gone'), s: shortToken('gone') }, errorPolicy)
      expect(info).to.deep.include({ embeds_resolved: 0, depth_reached: 0, references_used: [] })
    }
  })

  it('holds inside targets too, and tells of it', async () => {
    const { data, info } = await resolve(
      { t: `(${longToken('broken')})`, o: objectToken('broken') },
      'placeholder',
    )
    expect(data).to.deep.equal({
      t: '({"parameters": {"half": "<error:EmbedNotFoundError>", "inner": "<error:EmbedNotFoundError>"}})',
      o: { parameters: { half: '<error:EmbedNotFoundError>', inner: '<error:EmbedNotFoundError>' } },
    })
    expect(info.errors).to.have.length(4)
    expect(info.errors.filter((it) => it.includes('in "broken", '))).to.have.length(2)
  })

  it('fails an embed whose path goes through one that fails', async () => {
    const { data } = await resolve({ t: `(${shortToken('broken', 'inner.x')})` }, 'placeholder')
    expect(data).to.deep.equal({ t: '<error:EmbedNotFoundError>' })
  })

  for (const [name, token] of [
    ['PathExtractionError', objectToken('tone', { path: 'gone' })],
    ['CircularEmbedError', objectToken('loop', { path: 'parameters.next' })],
    ['EmbedNotFoundError', objectToken('tone', { key: 'k' })],
    ['ValueError', { '@svc.embed': { x: 1 } }],
    ['UnsupportedReferenceTypeError', longToken('x').replace('workflow_revision', 'testset')],
    ['MixedEntityTypesError', '@{{workflow.slug=tone, evaluator.slug=tone}}'],
    ['RetrieveRefsInconsistent', '@{{workflow.slug=tone, workflow_artifact.slug=tone}}'],
  ] as const)
    it(`calls a failure ${name}`, async () => {
      const { data, info } = await resolve({ a: token }, 'placeholder')
      expect(data).to.deep.equal({ a: `<error:${name}>` })
      expect(info.errors).to.have.length(1)
    })
})

describe('embeds: limits', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, n) => [
        `o${n + 1}`,
        { parameters: { next: n === 0 ? 'end' : objectToken(`o${n}`, { path: 'parameters.next' }) } },
      ]).concat(
        Array.from({ length }, (_, n) => [
          `s${n + 1}`,
          { parameters: { next: n === 0 ? 'end' : shortToken(`s${n}`, 'next') } },
        ]),
      ),
    ) as Record<string, JsonObject>

  const nested = (token: Json, maxDepth: number, errorPolicy: ErrorPolicy = 'exception') =>
    resolveEmbeds({ a: token }, memoryTargets(chain(12)), { maxDepth, maxEmbeds: 100, errorPolicy })

  for (const [what, token] of [
    ['objects', (n: number) => objectToken(`o${n}`, { path: 'parameters.next' })],
    ['strings', (n: number) => shortToken(`s${n}`, 'next')],
  ] as const) {
    it(`a max_depth of 10 allows chains of 9 ${what}, one of 3 allows 2, one of 1 none`, async () => {
      for (const [maxDepth, allowed] of [
        [10, 9],
        [3, 2],
        [2, 1],
      ] as const) {
        const { data, info } = await nested(token(allowed), maxDepth)
        expect(data).to.deep.equal({ a: 'end' })
        expect(info).to.include({ embeds_resolved: allowed, depth_reached: allowed })
        expect((await refusalOf(nested(token(allowed + 1), maxDepth))).code).to.equal('embed_depth_exceeded')
      }
      expect((await refusalOf(nested(token(1), 1))).code).to.equal('embed_depth_exceeded')
    })
  }

  it('depth is past every policy for objects, and fails the string whose target it is in', async () => {
    expect((await refusalOf(nested(objectToken('o3'), 3, 'placeholder'))).code).to.equal(
      'embed_depth_exceeded',
    )
    expect((await refusalOf(nested(shortToken('s3'), 1, 'keep'))).code).to.equal('embed_depth_exceeded')
    const { data, info } = await nested(shortToken('s3', 'next'), 3, 'placeholder')
    expect(data).to.deep.equal({ a: '<error:MaxDepthExceededError>' })
    expect(info.errors.join()).to.contain('max_depth')
  })

  it('max_embeds may be reached, and one more fails', async () => {
    const five = { a: Array(3).fill(objectToken('tone')), b: Array(2).fill(shortToken('tone', 'voice')) }
    expect((await resolve(five, 'exception', { maxEmbeds: 5 })).info.embeds_resolved).to.equal(5)
    for (const maxEmbeds of [4, 2, -1])
      expect((await refusalOf(resolve(five, 'exception', { maxEmbeds }))).code).to.equal(
        'embed_limit_exceeded',
      )
    const { data, info } = await resolve(five, 'placeholder', { maxEmbeds: 4 })
    expect(data).to.have.deep.property('b', ['calm', '<error:MaxEmbedsExceededError>'])
    expect(info).to.include({ embeds_resolved: 4 })
    const kept = await resolve(five, 'keep', { maxEmbeds: 4 })
    expect(kept.data).to.have.deep.property('b', ['calm', shortToken('tone', 'voice')])
  })

  it('no request goes past the most, whatever limits it names', async () => {
    const limits = { maxDepth: 1e9, maxEmbeds: 1e9, errorPolicy: 'exception' } as const
    const token = objectToken('o110', { path: 'parameters.next' })
    const deep = await refusalOf(resolveEmbeds({ a: token }, memoryTargets(chain(110)), limits))
    expect(deep.message).to.contain('max_depth is 100')
    const many = { a: Array(10_001).fill(shortToken('tone', 'voice')) }
    expect((await refusalOf(resolve(many, 'exception', limits))).message).to.contain('more than the 10000')
  })

  it('an embed that fails leaves room for others', async () => {
    const host = {
      a: Array(50).fill(objectToken('tone', { path: 'gone' })),
      b: Array(5).fill(objectToken('tone')),
    }
    expect((await resolve(host, 'keep', { maxEmbeds: 5 })).info.embeds_resolved).to.equal(5)
  })

  it('what is one too many is not even begun', async () => {
    const host = { a: objectToken('tone'), b: shortToken('broken', 'half') }
    const { data, info } = await resolve(host, 'placeholder', { maxEmbeds: 1 })
    expect(data).to.have.property('b', '<error:MaxEmbedsExceededError>')
    expect(info.errors).to.have.length(1)
  })

  it('embeds inside embeds count', async () => {
    expect((await nested(shortToken('s9', 'next'), 20)).info.embeds_resolved).to.equal(9)
    const tight = { maxDepth: 20, maxEmbeds: 8, errorPolicy: 'exception' } as const
    const refusal = await refusalOf(
      resolveEmbeds({ a: shortToken('s9', 'next') }, memoryTargets(chain(9)), tight),
    )
    expect(refusal.code).to.equal('embed_limit_exceeded')
  })

  /** Each embeds the one before it so many times. */
  const bomb = (token: (slug: string) => Json, width: number, bottom: string) =>
    Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `n${n}`,
        { parameters: n === 0 ? { next: bottom } : { next: Array(width).fill(token(`n${n - 1}`)) } },
      ]),
    ) as Record<string, JsonObject>

  for (const [what, token] of [
    ['objects', (slug: string) => objectToken(slug, { path: 'parameters.next' })],
    ['long strings', (slug: string) => longToken(slug, 'parameters.next')],
    ['shorthand', (slug: string) => shortToken(slug, 'next')],
    ['JSONPath', (slug: string) => longToken(slug, '$..next')],
  ] as const) {
    for (const [limits, width, bottom] of [
      [{ maxDepth: 1e9, maxEmbeds: 100 }, 10, 'lol'],
      [{ maxDepth: 1e9, maxEmbeds: 1e9 }, 10, 'lol'],
      [{ maxDepth: 10, maxEmbeds: 1e9 }, 100, 'x'.repeat(100_000)],
    ] as const)
      for (const errorPolicy of ['exception', 'placeholder', 'keep'] as const)
        it(`a bomb of ${what}, ${width} wide, ${bottom.length} each, ends (${errorPolicy}, ${JSON.stringify(limits)})`, async () => {
          const targets = memoryTargets(bomb(token, width, bottom))
          const size = await resolveEmbeds({ a: token('n59') }, targets, { ...limits, errorPolicy }).then(
            ({ data }) => JSON.stringify(data).length,
            (error: unknown) => refusalOf(Promise.reject(error)).then(() => 0),
          )
          expect(size).to.be.below(40_000_000)
          expect(targets.lookups.length).to.be.at.most(60)
        })
  }

  it('what comes in is bounded, past every policy', async () => {
    const big = { parameters: { text: 'x'.repeat(1_000_000) } }
    for (const token of [objectToken('big'), shortToken('big', 'text'), longToken('big', '$..text')])
      for (const errorPolicy of ['exception', 'placeholder', 'keep'] as const) {
        const work = resolveEmbeds({ a: Array(50).fill(token) }, memoryTargets({ big }), {
          maxDepth: 10,
          maxEmbeds: 100,
          errorPolicy,
        })
        expect((await refusalOf(work)).code).to.equal('embed_too_large')
      }
  })

  it('so is what is resolved for JSONPath to select a little of', async () => {
    const mixed = { big: 'x'.repeat(400_000), little: shortToken('tone', 'voice') }
    const targets = memoryTargets({ ...WORKFLOWS, mixed })
    const host = { a: Array(45).fill(longToken('mixed', '$.little')) }
    const work = resolveEmbeds(host, targets, { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'keep' })
    expect((await refusalOf(work)).code).to.equal('embed_too_large')
  })

  it('so is what JSONPath looks at, the failures that are let pass, and the levels around an embed', async () => {
    const wide = { rows: Array.from({ length: 1000 }, (_, n) => [n, n]) }
    const options = { maxDepth: 200, maxEmbeds: 10_000, errorPolicy: 'placeholder' } as const
    const refused = async (data: JsonObject, workflows: Record<string, JsonObject>) =>
      (await refusalOf(resolveEmbeds(data, memoryTargets(workflows), options))).message
    expect(
      await refused({ a: objectToken('wide', { path: '$.rows[?count($..*) > 1]' }) }, { wide }),
    ).to.contain('JSONPath queries')
    expect(
      await refused({ a: Array(200).fill(objectToken('wide', { path: '$..gone' })) }, { wide }),
    ).to.contain('JSONPath queries')
    expect(await refused({ a: Array(1001).fill(objectToken('gone')) }, {})).to.contain('1000 embeds failed')
    const deep = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`d${n}`, nest(objectToken(`d${n + 1}`), 20)]),
    ) as Record<string, JsonObject>
    expect(await refused({ a: objectToken('d0') }, deep)).to.contain('256 arrays and objects')
  })

  it('a document of twice the most levels is taken as it is where it has no tokens, and refused where one is too deep', async () => {
    // A document has at most MOST_LEVELS (1,000) levels, whoever brings it.
    const plain = nest('x', 2000)
    expect((await resolve(plain, 'exception')).data).to.equal(plain)
    expect((await refusalOf(resolve(nest(objectToken('tone'), 2000), 'keep'))).code).to.equal(
      'embed_too_large',
    )
  })
})

function nest(value: Json, levels: number): JsonObject {
  let nested: JsonObject = { a: value }
  for (let level = 1; level < levels; level++) nested = { a: nested }
  return nested
}
