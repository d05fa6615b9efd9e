import { handlerTable } from '../../../src/run/handlers/workflows.ts'
import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { acceptWorkflowData } from '../../../src/registry/workflows/workflow-data.ts'
import type { AcceptedDocument } from '../../../src/registry/payload/document-family.ts'
import { codeFor, refusalOf } from '../refusal-of.ts'

const SERVICES = 'http://127.0.0.1:3000/services'

const loc = ['body', 'workflow_revision_commit', 'data']

describe('workflow data', () => {
  it('is stored as it was sent, digit for digit and key for key', () => {
    const sent =
      '{"parameters":{"z":12345678901234567890,"2":null,"1":"","__proto__":{"a":1e400},"b":0.1000000000000000055},"uri":"user:custom:fn:v1","url":"https://example.org/a?b#c"}'
    expect(stored(sent)).to.equal(sent)
  })

  it('takes every field of the interface', () => {
    const sent =
      '{"uri":"svc:custom:code:v3","url":"http://h:8080","schemas":{"parameters":{},"inputs":{},"outputs":{}},"parameters":{},"runtime":"typescript","script":"","headers":{}}'
    expect(stored(sent)).to.equal(sent)
    expect(stored('{}')).to.equal('{}')
  })

  it('takes null for absent where the interface names the field, and nowhere deeper', () => {
    expect(
      stored(
        '{"uri":null,"runtime":null,"other":null,"schemas":{"inputs":null,"outputs":{"default":null}},"headers":{"A":null},"parameters":{"a":null}}',
      ),
    ).to.equal('{"schemas":{"outputs":{"default":null}},"headers":{},"parameters":{"a":null}}')
  })

  it('fills in the schemas of a built-in handler and drops a url of our own', () => {
    const { data } = accept('{"uri":"svc:builtin:echo:v0","url":"http://127.0.0.1:3000/services/echo/v0/x"}')
    expect(Object.keys(data)).to.deep.equal(['uri', 'schemas'])
    expect(stringifyJson(data)).to.contain('"got"')
  })

  // interface 7.12
  it('reduces a skill to what a skill has, and says what it left out', () => {
    const { data, warnings } = accept(
      '{"script":"x","uri":"svc:builtin:skill:v0","schemas":{"inputs":{},"parameters":{"type":"object"}},"parameters":{"body":"b"},"url":"https://a.b"}',
    )
    expect(stringifyJson(data)).to.equal(
      '{"uri":"svc:builtin:skill:v0","schemas":{"parameters":{"type":"object"}},"parameters":{"body":"b"}}',
    )
    expect(warnings.map(({ code, target }) => [code, target?.join('.')])).to.deep.equal([
      ['not_kept_by_skill', 'script'],
      ['not_kept_by_skill', 'url'],
      ['not_kept_by_skill', 'schemas.inputs'],
    ])
    expect(stored('{"uri":"skill","schemas":{"inputs":{}}}')).to.equal('{"uri":"skill"}')
    expect(stored('{"uri":"skill"}')).to.equal('{"uri":"skill"}')
  })

  it('warns of each header whose value is spelled out, and only of those', () => {
    const { warnings } = accept(
      '{"headers":{"X-Key":"abc","Authorization":{"secret":"HOOK"},"X-Ref":{"slug":"s","version":"2"},"X-Id":{"id":"0198c0de-1111-7aaa-8bbb-000000000001"}}}',
    )
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include({ code: 'literal_header' })
    expect(warnings[0]?.target).to.deep.equal(['headers', 'X-Key'])
    expect(warnings[0]?.message).to.contain('X-Key').and.contain('secret').and.not.contain('abc')
  })

  it('warns of braces behind a backslash in a curly template, which mean something else than they did', () => {
    const warned = (data: object): readonly string[] => {
      const [sent, text] = [parseJson(JSON.stringify(data)), JSON.stringify(data)]
      const { warnings } = acceptWorkflowData(sent, { loc, servicesBase: SERVICES, text }, handlerTable)
      expect(accept(text).warnings).to.deep.equal(warnings)
      return warnings.map(({ code, target }) => `${code} ${target?.join('.')}`)
    }
    const messages = [
      { content: 'a' },
      { content: [{ text: String.raw`\{{q}}` }] },
      { content: String.raw`\\{{q}}` },
    ]
    const places = ['1.content.0.text', '2.content'].map((it) => `messages.${it}`)
    const promptPlaces = places.map((it) => `escaped_braces parameters.prompt.${it}`)
    expect(warned({ parameters: { prompt: { messages } } })).to.deep.equal(promptPlaces)
    expect(
      warned({ uri: 'completion', parameters: { prompt: { messages, template_format: 'curly' } } }),
    ).to.deep.equal(promptPlaces)
    expect(warned({ uri: 'llm', parameters: { messages } })).to.deep.equal(
      places.map((it) => `escaped_braces parameters.${it}`),
    )
    expect(warned({ parameters: { note: String.raw`\{{x}}` } })).to.deep.equal([
      'escaped_braces parameters.note',
    ])
    expect(accept(JSON.stringify({ parameters: { prompt: { messages } } })).warnings[0]?.message).to.include(
      String.raw`the text holds "\{{"`,
    )
    for (const template_format of ['mustache', 'fstring', 'jinja2'])
      expect(
        warned({ uri: 'completion', parameters: { prompt: { messages, template_format } } }),
      ).to.deep.equal([])
    const judge = { uri: 'auto_ai_critique', parameters: { prompt_template: messages } }
    expect(warned(judge)).to.have.length(2)
    expect(warned({ ...judge, parameters: { ...judge.parameters, version: '5' } })).to.deep.equal([])
    const regex = { regex_pattern: String.raw`\{{2}`, regex_should_match: true }
    expect(warned({ uri: 'auto_regex_test', parameters: regex })).to.deep.equal([])
  })

  for (const [sent, place, word] of [
    ['[]', [], 'an array'],
    ['"text"', [], 'a string'],
    ['null', [], 'null'],
    ['{"temperature":1}', ['temperature'], '"temperature" is not a key of data'],
    ['{"__proto__":1}', ['__proto__'], '"__proto__"'],
    ['{"constructor":{}}', ['constructor'], '"constructor"'],
    ['{"uri":1}', ['uri'], 'a number'],
    ['{"uri":"svc:builtin:nonsense:v0"}', ['uri'], '"svc:builtin:nonsense"'],
    ['{"url":12345678901234567890}', ['url'], 'a number'],
    ['{"url":"example.org"}', ['url'], '"example.org"'],
    ['{"url":"ftp://example.org"}', ['url'], 'http'],
    ['{"url":"http:example.org"}', ['url'], 'http'],
    ['{"url":"http://"}', ['url'], 'host'],
    ['{"url":"https://a b/"}', ['url'], 'host'],
    ['{"url":"https://a.b/\\n"}', ['url'], 'host'],
    ['{"url":""}', ['url'], 'host'],
    ['{"runtime":"ruby"}', ['runtime'], 'python, typescript, javascript'],
    ['{"runtime":true}', ['runtime'], 'a boolean'],
    ['{"script":["x"]}', ['script'], 'an array'],
    ['{"parameters":[]}', ['parameters'], 'an array'],
    ['{"parameters":"x"}', ['parameters'], 'a string'],
    ['{"schemas":[]}', ['schemas'], 'an array'],
    ['{"schemas":{"input":{}}}', ['schemas', 'input'], '"input" is not a key of data.schemas'],
    ['{"schemas":{"inputs":true}}', ['schemas', 'inputs'], 'a boolean'],
    ['{"schemas":{"inputs":{"type":"x"}}}', ['schemas', 'inputs', 'type'], '/type'],
    ['{"schemas":{"outputs":{"$schema":"https://x.y"}}}', ['schemas', 'outputs', '$schema'], 'draft'],
    ['{"headers":[]}', ['headers'], 'an array'],
    ['{"headers":{"X Y":"a"}}', ['headers', 'X Y'], 'name'],
    ['{"headers":{"":"a"}}', ['headers', ''], 'name'],
    ['{"headers":{"X":1}}', ['headers', 'X'], 'a number'],
    ['{"headers":{"X":"a\\r\\nY: b"}}', ['headers', 'X'], 'line break'],
    ['{"headers":{"X":"é€"}}', ['headers', 'X'], 'Latin-1'],
    ['{"headers":{"X":{}}}', ['headers', 'X'], 'names nothing'],
    ['{"headers":{"X":{"secret":""}}}', ['headers', 'X'], 'name of a secret'],
    ['{"headers":{"X":{"secret":1}}}', ['headers', 'X'], 'name of a secret'],
    ['{"headers":{"X":{"secret":"A","slug":"b"}}}', ['headers', 'X'], 'nothing beside'],
    ['{"headers":{"X":{"value":"A"}}}', ['headers', 'X'], '"value"'],
    ['{"headers":{"X":{"id":"7"}}}', ['headers', 'X'], 'UUID'],
    ['{"headers":{"X":{"slug":""}}}', ['headers', 'X'], 'slug'],
    ['{"headers":{"X":{"slug":"a","version":0}}}', ['headers', 'X'], 'version'],
    ['{"headers":{"X":{"slug":"a","version":"1.5"}}}', ['headers', 'X'], 'version'],
  ] as const) {
    it(`refuses ${sent}`, () => {
      const refusal = refusalOf(() => accept(sent))
      const { message, data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_request'))
      expect(data.errors).to.have.length(1)
      expect(data.errors?.[0]?.loc).to.deep.equal([...loc, ...place])
      expect(data.errors?.[0]?.msg).to.contain(word)
      expect(message)
        .to.contain([...loc, ...place].join('.'))
        .and.contain(word)
    })
  }

  it('names every problem at once', () => {
    const { message, data } = refusalOf(() =>
      accept(
        '{"a":1,"url":"x","schemas":{"inputs":{"type":1},"outputs":{"type":2}},"headers":{"X":2,"Y":3}}',
      ),
    )
    const places = data.errors?.map((problem) => problem.loc.slice(loc.length).join('.')) ?? []
    expect(places).to.deep.equal([
      'a',
      'url',
      'schemas.inputs.type',
      'schemas.outputs.type',
      'headers.X',
      'headers.Y',
    ])
    for (const place of places) expect(message).to.contain(place)
  })

  it('lists a hundred problems and counts the rest', () => {
    const many = Array.from({ length: 150 }, (_, n) => `"k${n}":1`).join()
    const { message, data } = refusalOf(() => accept(`{${many}}`))
    expect(data.errors).to.have.length(100)
    expect(message).to.match(/and 50 more problems$/)
  })
})

function accept(text: string): AcceptedDocument {
  return acceptWorkflowData(parseJson(text), { loc, servicesBase: SERVICES }, handlerTable)
}

function stored(text: string): string {
  return stringifyJson(accept(text).data)
}
