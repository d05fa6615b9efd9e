import { expect } from 'chai'
import type { EmbedToken } from '../../../../src/registry/embeds/syntax/embed-token.ts'
import { findEmbeds as findIn, holdsEmbed } from '../../../../src/registry/embeds/syntax/find-embeds.ts'
import { referencesJson } from '../../../../src/registry/embeds/references-json.ts'
import { type Json, fromEntries } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'

const ID = '0f3c9a1b-e2d4-85b1-8123-7d41c0aa93fe'

const findEmbeds = (document: Json): readonly EmbedToken[] => findIn(document).tokens

/** What the tokens of a document say. */
const tokens = (document: Json) =>
  findEmbeds(document).map(({ form, references, selector }) => ({
    form,
    references: referencesJson(references),
    selector,
  }))

const only = (document: Json) => {
  const [token, ...others] = tokens(document)
  expect(others).to.deep.equal([])
  return token
}

const embed = (content: Json) => ({ '@svc.embed': content })
const slugOf = (slug: string) => ({ workflow_revision: { slug } })

describe('embeds: finding object tokens', () => {
  it('reads references and selector', () => {
    const content = {
      '@svc.references': {
        workflow: { id: ID, slug: 'lib', unknown: 1, version: null },
        workflow_revision: { version: '2' },
      },
      '@svc.selector': { key: 'k', path: 'a.b', unknown: 1 },
    }
    expect(only(embed(content))).to.deep.equal({
      form: 'object',
      references: { workflow: { id: ID, slug: 'lib' }, workflow_revision: { version: '2' } },
      selector: { key: 'k', path: 'a.b' },
    })
  })

  const whole: readonly (Json | undefined)[] = [
    undefined,
    null,
    {},
    { key: null, path: null },
    { key: '', path: '' },
  ]
  for (const selector of whole) {
    it(`selects everything with the selector ${JSON.stringify(selector)}`, () => {
      const content = {
        '@svc.references': slugOf('a'),
        ...(selector === undefined ? {} : { '@svc.selector': selector }),
      }
      expect(only(embed(content))?.selector).to.deep.equal({})
    })
  }

  const malformed: readonly Json[] = [
    {},
    null,
    'x',
    [],
    { '@svc.references': { workflow_revision: { slug: 'a', version: true } } },
    { '@svc.references': { workflow: { id: 'not-a-uuid' } } },
    { '@svc.references': slugOf('../x') },
    { '@svc.references': slugOf('') },
    { '@svc.references': slugOf('a b') },
    { '@svc.references': slugOf('a\n') },
    { '@svc.references': slugOf('a'), '@svc.selector': { path: 1 } },
    { '@svc.references': slugOf('a'), '@svc.selector': { key: [] } },
    { '@svc.references': slugOf('a'), '@svc.selector': 'path' },
  ]
  for (const content of malformed) {
    it(`leaves ${JSON.stringify(content)} alone`, () => {
      expect(tokens({ x: embed(content) })).to.deep.equal([])
    })
  }

  it('takes versions as numbers, however they are written', () => {
    for (const version of ['2', '"2"', '2.0', '2e0']) {
      const document = parseJson(
        `{"@svc.references": {"workflow_revision": {"slug": "a", "version": ${version}}}}`,
      )
      expect(only(embed(document))?.references).to.deep.equal({
        workflow_revision: { slug: 'a', version: '2' },
      })
    }
  })

  it('takes references by themselves, and a selector beside them', () => {
    const content = { '@svc.references': slugOf('a'), '@svc.selector': { path: 'a.b' } }
    expect(only({ x: [content] })).to.deep.equal(only({ x: [embed(content)] }))
    expect(only({ x: { '@svc.references': slugOf('a') } })?.references).to.deep.equal(slugOf('a'))
  })

  it('leaves references alone that other things stand beside, or that are none, and tells of them', () => {
    const others: readonly Json[] = [
      { '@svc.references': slugOf('a'), text: 'more' },
      { '@svc.references': slugOf('a'), '@svc.selector': {}, more: 1 },
      { '@svc.references': 'x' },
      { '@svc.references': {} },
      { '@svc.references': slugOf('a b') },
    ]
    for (const document of others) {
      const { tokens: found, inert } = findIn({ at: document })
      expect(found).to.deep.equal([])
      expect(inert, JSON.stringify(document)).to.deep.equal([['at']])
    }
    expect(only({ '@svc.references': slugOf('a'), text: '@{{workflow.slug=c}}' })?.form).to.equal('short')
  })

  it('finds one without references, which is a mistake', () => {
    const empty: readonly Json[] = [
      { a: 1 },
      { '@svc.references': 'x' },
      { '@svc.references': { workflow: 'x' } },
    ]
    for (const content of empty) expect(only(embed(content))?.references).to.deep.equal({})
  })

  it('does not look inside an embed', () => {
    const inner = embed({ '@svc.references': slugOf('b') })
    expect(
      only({ ...embed({ '@svc.references': slugOf('a'), inner }), text: '@{{workflow.slug=c}}', inner })
        ?.references,
    ).to.deep.equal(slugOf('a'))
    expect(tokens({ ...embed({}), text: '@{{workflow.slug=c}}', inner })).to.deep.equal([])
  })

  it('takes awkward entity types as they come', () => {
    const document = parseJson(
      '{"@svc.embed": {"@svc.references": {"__proto__": {"slug": "a"}, "7": {"slug": "b"}}}}',
    )
    const [token] = findEmbeds(document)
    expect([...(token?.references.keys() ?? [])]).to.deep.equal(['__proto__', '7'])
  })
})

describe('embeds: finding long string tokens', () => {
  const long = (references: string, more = '') => `@svc.embed[@svc.references[${references}]${more}]`

  it('reads references and selector in either order, whatever the spaces', () => {
    const read = {
      form: 'long',
      references: { workflow_revision: { slug: 'a', version: '2' }, workflow: { id: ID } },
      selector: { key: 'k', path: '/a/b' },
    }
    const references = ` workflow_revision . slug = a,workflow_revision.version=2 , workflow.id=${ID}`
    expect(only(`x ${long(references, ' , @svc.selector[ key = k , path=/a/b ]')} y`)).to.deep.equal(read)
    expect(only(`@svc.embed[@svc.selector[path=/a/b,key=k], @svc.references[${references}]]`)).to.deep.equal(
      read,
    )
  })

  it('splits at the last dot and at the first equals sign', () => {
    expect(only(long('x.y.slug=a'))?.references).to.deep.equal({ 'x.y': { slug: 'a' } })
    expect(only(long('workflow.version=a=b'))?.references).to.deep.equal({ workflow: { version: 'a=b' } })
  })

  for (const text of [
    long('workflow_revision:1'),
    long('workflow.name=a'),
    long('workflow.slug='),
    long('workflow.slug=../x'),
    long('workflow.id=1'),
    long('workflow.slug=a, workflow_revision.id=1'),
    long(''),
    '@svc.embed[]',
    '@svc.embed[@svc.references[workflow.slug=a',
    '@svc.embed[@svc.references[workflow.slug=a]',
    long('workflow.slug=a,\nworkflow.version=2'),
    long('workflow.slug=a', ', @svc.references[workflow.slug=b]'),
    long('workflow.slug=a', ', @svc.selector[path=a], @svc.selector[path=b]'),
  ]) {
    // interface 10.5
    it(`leaves ${JSON.stringify(text)} alone`, () => expect(tokens(text)).to.deep.equal([]))
  }

  it('counts brackets, and what is never closed swallows the rest', () => {
    const good = long('workflow.slug=a')
    expect(tokens(`${good}]${good}[${good}`)).to.have.length(3)
    expect(tokens(`${good} @svc.embed[ ${good}`)).to.have.length(1)
    expect(tokens(`@svc.embed[ [] ] ${good}`)).to.have.length(1)
  })

  it('takes a shorthand inside a long token for a part of it', () => {
    const text = `${long('workflow.slug=a', ', @{{workflow.slug=b}}')} @{{workflow.slug=c}}`
    expect(tokens(text).map(({ form }) => form)).to.deep.equal(['long', 'short'])
  })
})

describe('embeds: finding shorthand tokens', () => {
  it('mixes separators and trims', () => {
    expect(
      only(
        '@{{ workflow_revision.slug : a & workflow_revision.version=2, workflow . id = ' +
          ID +
          ' & key:k,path:b.c }}',
      ),
    ).to.deep.equal({
      form: 'short',
      references: { workflow_revision: { slug: 'a', version: '2' }, workflow: { id: ID } },
      selector: { key: 'k', path: 'b.c' },
    })
  })

  it('has a path unless it says otherwise, and tells no key from an empty one', () => {
    expect(only('@{{workflow.slug=a}}')?.selector).to.deep.equal({ path: 'prompt.messages.0.content' })
    expect(only('@{{workflow.slug=a, path=}}')?.selector).to.deep.equal({})
    expect(only('@{{environment.slug=a, key=, path=b}}')?.selector).to.deep.equal({ key: '', path: 'b' })
  })

  for (const type of ['workflow', 'application_variant', 'evaluator_revision', 'environment_artifact'])
    it(`knows ${type}`, () =>
      expect(only(`@{{${type}.slug=a}}`)?.references).to.deep.equal({ [type]: { slug: 'a' } }))

  for (const text of [
    '@{{name}}',
    '@{{a=b}}',
    '{{name}}',
    '@{{testset.slug=x}}',
    '@{{workflow.name=x}}',
    '@{{workflow_branch.slug=x}}',
    '@{{workflow.slug=../x}}',
    '@{{workflow.slug=}}',
    '@{{workflow.slug=a, workflow_revision.id=1}}',
    '@{{workflow.slug=a}',
    '@{{__proto__.slug=a}}',
  ]) {
    it(`leaves ${JSON.stringify(text)} alone`, () => expect(tokens(text)).to.deep.equal([]))
  }

  it('spans lines, passes over what it does not know, and ends at the first braces', () => {
    expect(only('@{{\n  workflow.slug=a\n  & junk & x=y\n}}}}')?.references).to.deep.equal({
      workflow: { slug: 'a' },
    })
    expect(tokens('@{{ @{{workflow.slug=a}} @{{workflow.slug=b}}')).to.have.length(1)
  })
})

describe('embeds: finding tokens in a document', () => {
  it('gives each with its place, in document order, and never looks at keys', () => {
    const document = fromEntries([
      ['b', ['x', { 'dotted.key': '@{{workflow.slug=a}} @{{workflow.slug=b}}' }]],
      ['@{{workflow.slug=k}}', 1],
      ['1', embed({ '@svc.references': slugOf('c') })],
      ['__proto__', { constructor: '@svc.embed[@svc.references[workflow.slug=d]]' }],
    ])
    const places = findEmbeds(document).map((token) => [
      ...token.location,
      token.form === 'object' ? '' : token.text,
    ])
    expect(places).to.deep.equal([
      ['b', 1, 'dotted.key', '@{{workflow.slug=a}}'],
      ['b', 1, 'dotted.key', '@{{workflow.slug=b}}'],
      ['1', ''],
      ['__proto__', 'constructor', '@svc.embed[@svc.references[workflow.slug=d]]'],
    ])
  })

  it('finds a token below 2,000 levels', () => {
    // Twice as many as can occur: a document has at most MOST_LEVELS (1,000) levels, whoever brings it.
    let document: Json = '@{{workflow.slug=a}}'
    for (let level = 0; level < 2000; level++) document = level % 2 ? [document] : { a: document }
    expect(findEmbeds(document)[0]?.location).to.have.length(2000)
  })

  const TEN_MB = 10_000_000
  const fill = (piece: string) => piece.repeat(Math.ceil(TEN_MB / piece.length))
  for (const [what, text] of [
    ['openings of long tokens', fill('@svc.embed[')],
    ['openings of shorthand', fill('@{{')],
    ['long tokens inside each other', fill('@svc.embed[') + fill(']')],
    ['references without end', `@svc.embed[${fill('@svc.references[')}]`],
    ['selectors without end', `@svc.embed[@svc.references[workflow.slug=a]${fill('@svc.selector[')}`],
    ['dots', `@{{${fill('.')}}}`],
    ['spaces', `@{{${fill(' ')}}}`],
    ['separators', `@{{${fill(',=&:')}}}`],
    ['both openings', fill('@svc.embed[@{{')],
  ] as const) {
    it(`looks through ten million characters of ${what}`, () => expect(findEmbeds(text)).to.deep.equal([]))
  }

  it('takes what is too long for a token as text', () => {
    const token = (slug: string) =>
      `@{{workflow.slug=${slug}}}@svc.embed[@svc.references[workflow.slug=${slug}]]`
    expect(findEmbeds(token('a'.repeat(9000)))).to.have.length(2)
    expect(findEmbeds(token('a'.repeat(10_000)))).to.deep.equal([])
  })

  it('says whether a document has one, in small ones and in large ones', () => {
    const numbers = Array.from({ length: 20_000 }, (_, number) => number)
    expect(holdsEmbed({ a: [1, 'text'] })).to.equal(false)
    expect(holdsEmbed({ text: '@{{workflow.slug=a}}' })).to.equal(true)
    expect(holdsEmbed({ numbers })).to.equal(false)
    expect(holdsEmbed({ numbers, text: '@{{workflow.slug=a}}' })).to.equal(true)
  })

  it('finds every token of a long text', () => {
    expect(
      findEmbeds('@svc.embed[@svc.references[a.slug=b]]@{{workflow.slug=a}}'.repeat(50_000)),
    ).to.have.length(100_000)
  })
})
