import { expect } from 'chai'
import { type ResolveOptions, resolveEmbeds } from '../../../src/registry/embeds/resolve-embeds.ts'
import { getKey, type JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { memoryTargets } from './memory-targets.ts'
import { refusalOf } from './refusal-of.ts'
import { longToken, objectToken, shortToken } from './tokens.ts'

const OPTIONS: ResolveOptions = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' }

const TONE: JsonObject = {
  parameters: {
    voice: 'calm',
    limits: { words: 80 },
    prompt: { messages: [{ role: 'system', content: 'Stay calm.' }] },
  },
}

/** Resolves `parameters` of a host against revisions of these slugs. */
async function resolve(
  parameters: JsonObject,
  workflows: Readonly<Record<string, JsonObject>> = {},
  options: Partial<ResolveOptions> = {},
) {
  const targets = memoryTargets({ tone: TONE, ...workflows }, ENVIRONMENTS)
  const { data, info } = await resolveEmbeds({ parameters }, targets, { ...OPTIONS, ...options })
  return { parameters: getKey(data, 'parameters'), info, lookups: targets.lookups }
}

const PIN = {
  workflow: { id: null },
  workflow_variant: { slug: 'tone-main' },
  workflow_revision: { slug: 'tone', version: 1 },
}
const ENVIRONMENTS = {
  prod: { references: { 'tone.revision': PIN } },
  two: { references: { a: PIN, b: { nested: PIN } } },
  none: { references: {} },
  bad: {
    references: { odd: { workflow_revision: { id: 'x' } }, gone: { workflow: { slug: 'gone' } }, text: 'x' },
  },
}

const env = (slug: string, selector: JsonObject): JsonObject => ({
  '@svc.embed': { '@svc.references': { environment: { slug } }, '@svc.selector': selector },
})

describe('embeds: what comes in', () => {
  it('is a value of any type for an object, which vanishes whole', async () => {
    const odd = parseJson('{"n": 1.0, "o": {"10": 1, "2": 2}, "z": null, "f": false}') as JsonObject
    const { parameters } = await resolve(
      {
        whole: { ...objectToken('tone'), sibling: 1 },
        list: [objectToken('tone', { path: 'parameters.limits.words' }), 'x'],
        n: objectToken('odd', { path: 'n' }),
        o: objectToken('odd', { path: 'o' }),
        z: objectToken('odd', { path: 'z' }),
        f: objectToken('odd', { path: 'f' }),
      },
      { odd },
    )
    expect(stringifyJson(parameters)).to.equal(
      `{"whole":${stringifyJson(TONE)},"list":[80,"x"],"n":1.0,"o":{"10":1,"2":2},"z":null,"f":false}`,
    )
  })

  it('is text in a string, each token in its own place', async () => {
    const { parameters, info } = await resolve({
      a: `Be ${longToken('tone', 'parameters.voice')}, max ${longToken('tone', 'parameters.limits')}`,
      b: `${shortToken('tone', 'voice')}${shortToken('tone', 'voice')}`,
      c: '>> @{{workflow.slug=tone}}',
      d: shortToken('tone'),
    })
    expect(parameters).to.deep.equal({
      a: 'Be calm, max {"words": 80}',
      b: 'calmcalm',
      c: '>> Stay calm.',
      d: '{"parameters": {"voice": "calm", "limits": {"words": 80}, "prompt": {"messages": [{"role": "system", "content": "Stay calm."}]}}}',
    })
    expect(info).to.include({ embeds_resolved: 6, depth_reached: 1 })
  })

  it('is not taken for a pattern nor for a token that was there', async () => {
    const { parameters } = await resolve(
      { a: `${longToken('odd', 'text')}|${longToken('tone', 'parameters.voice')}` },
      { odd: { text: "$& $1 $' @{{name}}" } },
    )
    expect(parameters).to.deep.equal({ a: "$& $1 $' @{{name}}|calm" })
  })

  it('replaces the whole of parameters, and what has awkward keys', async () => {
    const whole = await resolve(objectToken('tone', { path: 'parameters.limits' }))
    expect(whole.parameters).to.deep.equal({ words: 80 })
    const host = parseJson(
      `{"__proto__": {"a.b": ["${shortToken('tone', 'voice')}"]}, "7": ${stringifyJson(objectToken('tone', { path: '$..words' }))}, "1": 1}`,
    ) as JsonObject
    const { parameters } = await resolve(host)
    expect(stringifyJson(parameters)).to.equal('{"__proto__":{"a.b":["calm"]},"7":80,"1":1}')
  })

  it('leaves data without tokens as it is, and looks nothing up', async () => {
    const host = { a: ['{{name}}', { '@svc.embed': {} }], tool: { type: 'reference', slug: 'tone' } }
    const { parameters, info, lookups } = await resolve(host)
    expect(parameters).to.equal(host)
    expect(info).to.deep.equal({ references_used: [], depth_reached: 0, embeds_resolved: 0, errors: [] })
    expect(lookups).to.deep.equal([])
  })

  it('leaves what nothing valid refers to, under every policy', async () => {
    const host = {
      b: '@svc.embed[@svc.references[workflow_revision:1]]',
      c: '@{{name}}',
      d: { '@svc.embed': {} },
      e: '@{{workflow.slug=../../etc/passwd}}',
    }
    for (const errorPolicy of ['exception', 'placeholder', 'keep'] as const) {
      const { parameters, info } = await resolve(host, {}, { errorPolicy })
      expect(parameters).to.deep.equal(host)
      expect(info.errors).to.deep.equal([])
    }
  })
})

describe('embeds: paths', () => {
  const WRAP = {
    parameters: { obj: objectToken('tone'), line: `W(${longToken('tone', 'parameters.voice')})` },
  }

  it('of forms B and C run through embeds, that of form A does not', async () => {
    const through = 'parameters.obj.parameters.voice'
    const { parameters, info } = await resolve(
      {
        b: longToken('wrap', through),
        c: shortToken('wrap', 'obj.parameters.voice'),
        d: longToken('wrap', '/parameters/line'),
      },
      { wrap: WRAP },
    )
    expect(parameters).to.deep.equal({ b: 'calm', c: 'calm', d: 'W(calm)' })
    expect(info).to.include({ embeds_resolved: 6, depth_reached: 2 })
    const refusal = await refusalOf(resolve({ a: objectToken('wrap', { path: through }) }, { wrap: WRAP }))
    expect(refusal.code).to.equal('embed_path_not_found')
  })

  it('of forms B and C ask nothing of what they do not touch', async () => {
    const broken = { parameters: { ok: 'fine', bad: longToken('gone'), worse: objectToken('gone') } }
    const { parameters, info } = await resolve({ a: shortToken('broken', 'ok') }, { broken })
    expect(parameters).to.deep.equal({ a: 'fine' })
    expect(info.embeds_resolved).to.equal(1)
  })

  it('in JSONPath see resolved data in forms B and C, stored data in form A', async () => {
    const query = '$.parameters..voice'
    const { parameters } = await resolve({ b: longToken('wrap', query) }, { wrap: WRAP })
    expect(parameters).to.deep.equal({ b: 'calm' })
    const refusal = await refusalOf(resolve({ a: objectToken('wrap', { path: query }) }, { wrap: WRAP }))
    expect(refusal.code).to.equal('embed_path_not_found')
  })

  it('of form C begin at the parameters, in every notation', async () => {
    const { parameters } = await resolve({
      dot: shortToken('tone', 'limits.words'),
      pointer: shortToken('tone', '/limits/words'),
      jsonpath: shortToken('tone', '$.limits.words'),
    })
    expect(parameters).to.deep.equal({ dot: '80', pointer: '80', jsonpath: '80' })
  })

  it('may be a whole key, also of what an embed brings in', async () => {
    const keyed = {
      x: { 'a.b': 'whole', a: { b: 'steps' } },
      parameters: objectToken('keyed2', { path: 'x' }),
    }
    const { parameters } = await resolve(
      { a: objectToken('keyed2', { path: 'x.a.b' }), b: shortToken('keyed', 'a.b') },
      { keyed, keyed2: { x: keyed.x } },
    )
    expect(parameters).to.deep.equal({ a: 'steps', b: 'whole' })
  })

  it('reach nothing that is not in the data', async () => {
    for (const path of [
      '__proto__',
      'constructor',
      'parameters.constructor.name',
      '/__proto__',
      '$.__proto__',
      '../tone',
    ]) {
      const refusal = await refusalOf(resolve({ a: objectToken('tone', { path }) }))
      expect(refusal.code, path).to.equal('embed_path_not_found')
    }
  })
})

describe('embeds: references', () => {
  const refused = async (references: JsonObject) =>
    (await refusalOf(resolve({ a: { '@svc.embed': { '@svc.references': references } } }))).code

  it('of one embed are one lookup, each at its level', async () => {
    const id = '0F3C9A1B-E2D4-85B1-8123-7D41C0AA93FE'
    const { lookups } = await resolve({
      a: `@{{application.id=${id}, application_variant.slug=v, application_revision.slug=tone, application_revision.version=02, path=voice}}`,
    })
    expect(lookups).to.deep.equal([
      {
        family: 'workflow',
        references: {
          artifact: { id: id.toLowerCase() },
          variant: { slug: 'v' },
          revision: { slug: 'tone', version: 2 },
        },
      },
    ])
  })

  it('that are the same are looked up once', async () => {
    const { lookups, info } = await resolve({
      a: objectToken('tone'),
      b: [longToken('tone'), shortToken('tone')],
    })
    expect(lookups).to.have.length(1)
    expect(info).to.include({ embeds_resolved: 3, depth_reached: 1 })
  })

  // interface 10.6
  it('must be there, of one entity, of one that is known, and each level once', async () => {
    expect(await refused({ workflow: 'x' })).to.equal('embed_invalid')
    expect(await refused({ testset_revision: { slug: 'a' } })).to.equal('embed_unsupported_entity')
    expect(await refused({ workflow_branch: { slug: 'a' } })).to.equal('embed_unsupported_entity')
    expect(await refused({ constructor: { slug: 'a' } })).to.equal('embed_unsupported_entity')
    expect(await refused({ workflow: { slug: 'tone' }, environment: { slug: 'prod' } })).to.equal(
      'embed_mixed_entities',
    )
    expect(await refused({ workflow: { slug: 'tone' }, application_revision: { slug: 'tone' } })).to.equal(
      'embed_mixed_entities',
    )
    expect(await refused({ workflow: { slug: 'tone' }, workflow_artifact: { slug: 'tone' } })).to.equal(
      'embed_contradictory',
    )
    for (const version of ['v1', '0', '-1', '1.5', ''])
      expect(await refused({ workflow_revision: { slug: 'tone', version } })).to.equal('embed_not_found')
  })
})

describe('embeds: through an environment', () => {
  // interface 10.9
  it('a key leads on to what is pinned, and its path is for that', async () => {
    const { parameters, info } = await resolve({
      v: env('prod', { key: 'tone.revision', path: 'parameters.voice' }),
      w: '@{{environment.slug=prod, key=tone.revision, path=voice}}',
      x: '@{{environment.slug=prod}}',
      y: '@svc.embed[@svc.references[environment.slug=prod],@svc.selector[key=tone.revision,path=parameters.voice]]',
    })
    expect(parameters).to.deep.equal({ v: 'calm', w: 'calm', x: 'Stay calm.', y: 'calm' })
    expect(info.references_used).to.deep.equal(Array(4).fill({ environment: { slug: 'prod' } }))
    expect(info).to.include({ embeds_resolved: 4, depth_reached: 1 })
  })

  it('a key is a key, or leads there by dots, or is the slug of a variant', async () => {
    const path = 'parameters.voice'
    const { parameters } = await resolve({
      whole: env('prod', { key: 'tone.revision', path }),
      dots: env('two', { key: 'b.nested', path }),
      variant: env('two', { key: 'tone-main', path }),
    })
    expect(parameters).to.deep.equal({ whole: 'calm', dots: 'calm', variant: 'calm' })
  })

  it('without a key forms A and B see the pins and do not follow them', async () => {
    const { parameters, info } = await resolve({
      all: env('prod', {}),
      pinned: env('prod', { path: '/references/tone.revision/workflow_revision/version' }),
      text: '@svc.embed[@svc.references[environment.slug=prod],@svc.selector[path=/references/tone.revision/workflow_revision/slug]]',
    })
    expect(parameters).to.deep.equal({ all: ENVIRONMENTS.prod, pinned: 1, text: 'tone' })
    expect(info).to.include({ embeds_resolved: 3, depth_reached: 1 })
  })

  for (const [what, parameters, code] of [
    ['two pins and no key', { a: '@{{environment.slug=two}}' }, 'embed_invalid'],
    ['no pin and no key', { a: '@{{environment.slug=none}}' }, 'embed_invalid'],
    ['an empty key', { a: '@{{environment.slug=prod, key=}}' }, 'embed_path_not_found'],
    ['a key of no pin', { a: env('prod', { key: 'gone' }) }, 'embed_not_found'],
    ['the key __proto__', { a: env('prod', { key: '__proto__' }) }, 'embed_not_found'],
    ['the key constructor', { a: env('prod', { key: 'constructor' }) }, 'embed_not_found'],
    ['a key for a workflow', { a: objectToken('tone', { key: 'a' }) }, 'embed_not_found'],
    ['a pin that is no reference', { a: env('bad', { key: 'odd' }) }, 'embed_invalid'],
    ['a pin that is text', { a: env('bad', { key: 'text' }) }, 'embed_not_found'],
    ['a pin of nothing', { a: env('bad', { key: 'gone' }) }, 'embed_not_found'],
    ['an environment that is not there', { a: env('gone', {}) }, 'embed_not_found'],
  ] as const)
    it(`${what} is refused with ${code}`, async () => {
      expect((await refusalOf(resolve(parameters))).code).to.equal(code)
    })
})

describe('embeds: inside embeds', () => {
  const OBJECT = { parameters: { inner: objectToken('tone') } }
  const STRING = { parameters: { inner: `<${longToken('tone', 'parameters.voice')}>` } }

  for (const [what, token, workflows, value, resolved, depth] of [
    ['object -> object', objectToken('top'), { top: OBJECT }, { parameters: { inner: TONE } }, 2, 2],
    ['object -> string', objectToken('top'), { top: STRING }, { parameters: { inner: '<calm>' } }, 2, 2],
    ['string -> string', longToken('top', 'parameters.inner'), { top: STRING }, '<calm>', 2, 2],
    ['string -> object', shortToken('top', 'inner.parameters.voice'), { top: OBJECT }, 'calm', 2, 2],
    [
      'object -> string -> object',
      objectToken('top', { path: 'parameters.inner' }),
      { top: { parameters: { inner: `[${shortToken('mid', 'inner.parameters.voice')}]` } }, mid: OBJECT },
      '[calm]',
      3,
      3,
    ],
  ] as const)
    it(`${what} counts ${resolved}, depth ${depth}`, async () => {
      const { parameters, info } = await resolve({ a: token }, workflows)
      expect(parameters).to.deep.equal({ a: value })
      expect(info).to.include({ embeds_resolved: resolved, depth_reached: depth })
    })

  it('lists the references of the host and of what came into it, pass by pass, objects first', async () => {
    const { info } = await resolve(
      {
        a: shortToken('string', 'inner'),
        b: longToken('tone'),
        c: objectToken('object'),
        d: objectToken('string'),
      },
      { object: OBJECT, string: STRING },
    )
    const slugs = info.references_used.map((it) => stringifyJson(it).match(/"slug":"(\w+)"/)?.[1])
    expect(slugs).to.deep.equal(['object', 'string', 'tone', 'string', 'tone', 'tone'])
    expect(info).to.include({ embeds_resolved: 7, depth_reached: 2 })
  })

  it('lists objects first among what came in with several embeds, too', async () => {
    const other = { parameters: { inner: objectToken('leaf') } }
    const { info } = await resolve(
      { a: objectToken('string'), b: objectToken('other') },
      { string: STRING, other, leaf: TONE },
    )
    const slugs = info.references_used.map((it) => stringifyJson(it).match(/"slug":"(\w+)"/)?.[1])
    expect(slugs).to.deep.equal(['string', 'other', 'leaf', 'tone'])
  })

  it('text that came in is looked through for string tokens, and never becomes structure', async () => {
    const keyed = {
      text: { [shortToken('tone', 'voice')]: 1 },
      structure: JSON.stringify(objectToken('tone')),
    }
    const { parameters, info } = await resolve(
      { a: longToken('keyed', 'text'), b: longToken('keyed', 'structure') },
      { keyed },
    )
    expect(parameters).to.deep.equal({ a: '{"calm": 1}', b: keyed.structure })
    expect(info).to.include({ embeds_resolved: 3, depth_reached: 2 })
  })
})

describe('embeds: in text that came in with an embed', () => {
  const x = { text: 'X', parameters: { v: 'calm' } }

  it('stand in the data of that one, not of its neighbours', async () => {
    const y = { text: { [shortToken('x', 'v')]: 1 } }
    const { parameters } = await resolve(
      { a: `${longToken('x', 'text')} ${longToken('y', 'text')}` },
      { x, y },
    )
    expect(parameters).to.deep.equal({ a: 'X {"calm": 1}' })
  })

  it('close a circle with that one', async () => {
    const y = { text: { [longToken('y', 'text')]: 1 } }
    const work = resolve({ a: `${longToken('x', 'text')} ${longToken('y', 'text')}` }, { x, y })
    expect((await refusalOf(work)).message).to.contain(': y -> y.')
  })
})

describe('embeds: in a circle', () => {
  const A = (slug: string): JsonObject => ({ parameters: { next: objectToken(slug) } })
  const B = (slug: string): JsonObject => ({ parameters: { next: longToken(slug, 'parameters.next') } })
  const C = (slug: string): JsonObject => ({ parameters: { next: shortToken(slug, 'next') } })

  for (const [what, workflows, circle] of [
    ['objects', { a: A('b'), b: A('a') }, 'a -> b -> a'],
    ['long strings', { a: B('b'), b: B('a') }, 'a -> b -> a'],
    ['shorthand', { a: C('b'), b: C('a') }, 'a -> b -> a'],
    ['all forms', { a: A('b'), b: B('c'), c: C('a') }, 'a -> b -> c -> a'],
    ['one that embeds itself', { a: C('a') }, 'a -> a'],
    ['a circle further down', { a: A('b'), b: B('c'), c: C('b') }, 'b -> c -> b'],
  ] as const)
    // interface 10.11
    it(`${what} are refused naming it`, async () => {
      for (const token of [objectToken('a'), longToken('a', 'parameters.next'), shortToken('a', 'next')]) {
        const refusal = await refusalOf(resolve({ x: token }, workflows))
        expect(refusal.code).to.equal('embed_cycle')
        expect(refusal.message).to.contain(`: ${circle}.`)
        expect(refusal.data.details?.['location']).to.include.ordered.members(['parameters', 'x'])
      }
    })

  it('the host is part of it when it is known', async () => {
    const host = { id: 'host', slug: 'host-3' }
    const workflows = { host: A('b'), b: A('host') }
    for (const token of [objectToken('host'), objectToken('b')]) {
      const refusal = await refusalOf(resolve({ x: token }, workflows, { host }))
      expect(refusal.message).to.match(/: host-3 -> (b -> )?host\./)
    }
  })

  it('may go through an environment', async () => {
    const next = '@{{environment.slug=prod, key=tone.revision, path=next}}'
    const refusal = await refusalOf(resolve({ x: next }, { tone: { parameters: { next } } }))
    expect(refusal.message).to.contain('tone -> tone')
  })

  // interface 10.11
  it('is not a diamond: one target by several ways, also at several depths', async () => {
    const workflows = {
      b: { parameters: { t: objectToken('tone'), u: shortToken('tone', 'voice') } },
      c: A('tone'),
    }
    const { parameters, info } = await resolve(
      {
        x: objectToken('tone', { path: 'parameters.voice' }),
        b: objectToken('b'),
        c: objectToken('c'),
        d: shortToken('b', 'u'),
      },
      workflows,
    )
    expect(parameters).to.deep.equal({
      x: 'calm',
      b: { parameters: { t: TONE, u: 'calm' } },
      c: { parameters: { next: TONE } },
      d: 'calm',
    })
    expect(info.embeds_resolved).to.equal(8)
  })
})
