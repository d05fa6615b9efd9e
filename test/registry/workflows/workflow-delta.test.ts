import { handlerTable } from '../../../src/run/handlers/workflows.ts'
import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { applyWorkflowDelta } from '../../../src/registry/workflows/workflow-family.ts'
import type { AcceptedDocument } from '../../../src/registry/payload/document-family.ts'
import { codeFor, refusalOf } from '../refusal-of.ts'

const loc = ['body', 'workflow_revision_commit', 'delta']
const base =
  '{"parameters":{"prompt":{"messages":[{"role":"user"}],"t":0.1000000000000000055},"2":1,"1":2},"script":"x"}'

describe('workflow delta', () => {
  for (const [what, before, delta, after] of [
    [
      'merges objects',
      '{"parameters":{"b":{"c":1},"a":1}}',
      '{"set":{"parameters":{"b":{"d":2}}}}',
      '{"parameters":{"b":{"c":1,"d":2},"a":1}}',
    ],
    [
      'replaces scalars and lists',
      '{"parameters":{"a":[1,2],"b":1}}',
      '{"set":{"parameters":{"a":[3],"b":{"c":1}}}}',
      '{"parameters":{"a":[3],"b":{"c":1}}}',
    ],
    ['unsets a field by null', base, '{"set":{"parameters":null}}', '{"script":"x"}'],
    ['stores a deeper null', '{}', '{"set":{"parameters":{"a":null}}}', '{"parameters":{"a":null}}'],
    [
      'removes after setting',
      '{}',
      '{"set":{"parameters":{"a":{"b":1,"c":2}}},"remove":["parameters.a.b"]}',
      '{"parameters":{"a":{"c":2}}}',
    ],
    ['keeps what it does not touch', base, '{"set":{"script":"y"}}', base.replace('"x"', '"y"')],
    ['may change nothing', base, '{"set":{},"remove":[],"comment":null}', base],
    [
      'takes null for absent',
      base,
      '{"set":null,"remove":["script"],"operations":null}',
      base.replace(',"script":"x"', ''),
    ],
    ['drops a url of our own', '{}', '{"set":{"url":"http://127.0.0.1:3000/services/chat/v0/1"}}', '{}'],
    [
      'keeps a url of elsewhere',
      '{"url":"https://a.b"}',
      '{"set":{"script":""}}',
      '{"url":"https://a.b","script":""}',
    ],
  ] as const) {
    it(what, () => {
      expect(stringifyJson(apply(before, delta).data)).to.equal(after)
    })
  }

  it('starts from nothing when there is no revision with data yet', () => {
    const { data } = apply(undefined, '{"set":{"parameters":{"a":1}}}')
    expect(data).to.deep.equal({ parameters: { a: 1 } })
  })

  it('fills in schemas and warns as a whole payload does', () => {
    const { data, warnings } = apply('{}', '{"set":{"uri":"echo","headers":{"X":"y"}}}')
    expect(Object.keys(data)).to.deep.equal(['uri', 'headers', 'schemas'])
    expect(warnings.map(({ code }) => code)).to.deep.equal(['literal_header'])
  })

  it('leaves the base as it was', () => {
    const before = parseJson(base) as JsonObject
    applyWorkflowDelta(
      before,
      parseJson('{"set":{"parameters":{"2":5}},"remove":["script"]}'),
      context(),
      handlerTable,
    )
    expect(stringifyJson(before)).to.equal(base)
  })

  for (const [delta, place, word] of [
    ['[]', [], 'an array'],
    ['null', [], 'null'],
    ['{}', [], '"set"'],
    ['{"add":{}}', ['add'], 'set, remove'],
    ['{"set":null,"remove":null}', [], '"set"'],
    ['{"set":[]}', ['set'], 'an array'],
    ['{"remove":"script"}', ['remove'], 'a string'],
    ['{"remove":["script",1]}', ['remove', 1], 'a number'],
    ['{"remove":[""]}', ['remove', 0], 'empty'],
    ['{"operations":[]}', ['operations'], '{"set": {…}, "remove": ["path.of.keys"]}'],
    ['{"set":{},"operations":[]}', ['operations'], 'not supported'],
  ] as const) {
    it(`refuses ${delta} as no delta`, () => {
      const refusal = refusalOf(() => apply(base, delta))
      const { message, data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_delta'))
      expect(data.errors?.map((problem) => problem.loc)).to.deep.equal([[...loc, ...place]])
      expect(message).to.contain(word)
    })
  }

  it('refuses to remove paths that lead nowhere, with those that are near', () => {
    const before = '{"script":"x","parameters":{"prompt":{"messages":[]}}}'
    const remove = '{"remove":["parameters.promt.messages","script.y","url","a..b","parameters.prompt"]}'
    const { code, data } = refusalOf(() => apply(before, remove))
    expect(code).to.equal('no_such_key')
    expect(data.errors?.map(({ loc: place, msg }) => [place.at(-1), msg.split('; ')[1]])).to.deep.equal([
      [0, 'did you mean "parameters.prompt"?'],
      [1, 'there are "script"'],
      [2, 'there are "script", "parameters"'],
      [3, undefined],
    ])
    expect(stringifyJson(apply(before, remove, true).data)).to.equal('{"script":"x","parameters":{}}')
  })

  it('lets go of a url that readers of a managed handler are shown and that is not stored', () => {
    const before = '{"uri":"svc:builtin:chat:v0"}'
    expect(apply(before, '{"remove":["url"]}').data).to.have.property('uri', 'svc:builtin:chat:v0')
  })

  it('names every problem of the delta at once', () => {
    expect(refusalOf(() => apply(base, '{"set":1,"remove":[1,2]}')).data.errors).to.have.length(3)
  })

  for (const [delta, place] of [
    ['{"set":{"temperature":1}}', ['temperature']],
    ['{"set":{"parameters":[]}}', ['parameters']],
    ['{"set":{"schemas":{"inputs":{"type":"x"}}}}', ['schemas', 'inputs', 'type']],
    ['{"set":{"uri":"svc:builtin:no:v0"}}', ['uri']],
  ] as const) {
    it(`refuses ${delta} for its result`, () => {
      const refusal = refusalOf(() => apply(base, delta))
      const { data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_request'))
      expect(data.errors?.map((problem) => problem.loc)).to.deep.equal([[...loc, 'set', ...place]])
    })
  }

  it('can take out what a push has put in', () => {
    expect(refusalOf(() => apply('{"odd":1}', '{"set":{"script":"x"}}')).message).to.contain('"odd"')
    expect(apply('{"odd":1}', '{"set":{"script":"x"},"remove":["odd"]}').data).to.deep.equal({ script: 'x' })
  })
})

function context(isExisting = false) {
  return { loc, servicesBase: 'http://127.0.0.1:3000/services', isExisting }
}

function apply(before: string | undefined, delta: string, isExisting = false): AcceptedDocument {
  const data = before === undefined ? undefined : (parseJson(before) as JsonObject)
  return applyWorkflowDelta(data, parseJson(delta), context(isExisting), handlerTable)
}
