import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { applyEnvironmentDelta } from '../../../src/registry/families/environment-surface.ts'
import { codeFor, refusalOf } from '../refusal-of.ts'

const loc = ['body', 'environment_revision_commit', 'delta']
const base =
  '{"a.revision":{"application":{"slug":"a"},"application_revision":{"version":1}},"b.revision":{"x":{}}}'

describe('environment delta', () => {
  for (const [what, before, delta, after] of [
    [
      'replaces the whole group of a key, where it stands',
      base,
      '{"set":{"a.revision":{"application_revision":{"version":"2"}}}}',
      '{"a.revision":{"application_revision":{"version":2}},"b.revision":{"x":{}}}',
    ],
    [
      'puts new keys last, and removes after setting',
      base,
      '{"set":{"c":{},"a.revision":{},"d":{}},"remove":["b.revision","d"]}',
      '{"a.revision":{},"c":{}}',
    ],
    ['takes keys literally', '{"a":{"b":{}},"a.b":{}}', '{"remove":["a.b"]}', '{"a":{"b":{}}}'],
    [
      'takes any string as key',
      '{"z":{},"7":{},"__proto__":{}}',
      '{"set":{"__proto__":{"x":{"slug":"p"}},"constructor":{},"1":{},"":{}},"remove":["7"]}',
      '{"z":{},"__proto__":{"x":{"slug":"p"}},"constructor":{},"1":{},"":{}}',
    ],
    [
      'removes an odd key',
      '{"__proto__":{},"":{},"7":{},"a":{}}',
      '{"remove":["","7","__proto__"]}',
      '{"a":{}}',
    ],
    ['may leave nothing', '{"a":{}}', '{"remove":["a"]}', '{}'],
    ['may change nothing', base, '{}', base],
    ['takes null for absent', base, '{"set":null,"remove":null}', base],
    [
      'starts from nothing when no revision has data',
      undefined,
      '{"set":{"a":{},"b":{}},"remove":["b"]}',
      '{"a":{}}',
    ],
  ] as const) {
    it(what, () => {
      expect(apply(before, delta)).to.equal(`{"references":${after}}`)
    })
  }

  it('refuses to remove keys that are not there, each at its place, with those that are near', () => {
    const { code, data } = refusalOf(() =>
      apply(base, '{"remove":["b.revison","a.revision","a","__proto__","toString"]}'),
    )
    expect(code).to.equal('no_such_key')
    const places = data.errors?.map(({ loc: place, type, msg }) => [place.at(-1), type, msg.split('; ')[1]])
    expect(places).to.deep.equal([
      [0, 'no_such_key', 'did you mean "b.revision"?'],
      [2, 'no_such_key', 'did you mean "a.revision"?'],
      [3, 'no_such_key', 'there are "a.revision", "b.revision"'],
      [4, 'no_such_key', undefined],
    ])
    expect(refusalOf(() => apply(undefined, '{"remove":["b"]}')).message).to.include('there is none')
    expect(apply('{"a":{}}', '{"remove":["b"]}', true)).to.equal('{"references":{"a":{}}}')
  })

  it('leaves the base as it was', () => {
    const before = parseJson(`{"references":${base}}`) as JsonObject
    const delta = parseJson('{"set":{"a.revision":{}},"remove":["b.revision"]}')
    applyEnvironmentDelta(before, delta, { loc, servicesBase: '' })
    expect(stringifyJson(before)).to.equal(`{"references":${base}}`)
  })

  for (const [delta, places, word] of [
    ['[]', [[]], 'an array'],
    ['null', [[]], 'null'],
    ['{"add":{}}', [['add']], 'set, remove'],
    ['{"operations":[]}', [['operations']], '"operations"'],
    ['{"set":{},"__proto__":1}', [['__proto__']], '"__proto__"'],
    ['{"set":[]}', [['set']], 'an array'],
    ['{"remove":"a"}', [['remove']], 'list of keys'],
    ['{"remove":{"a":1}}', [['remove']], 'an object'],
    [
      '{"remove":["a",1,null]}',
      [
        ['remove', 1],
        ['remove', 2],
      ],
      'a number',
    ],
    ['{"replace":1,"set":1,"remove":1}', [['replace'], ['set'], ['remove']], '"replace"'],
  ] as const) {
    it(`refuses ${delta} as no delta`, () => {
      const refusal = refusalOf(() => apply(base, delta))
      const { message, data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_delta'))
      expect(data.errors?.map((problem) => problem.loc)).to.deep.equal(
        places.map((place) => [...loc, ...place]),
      )
      expect(message).to.contain(word)
    })
  }

  it('refuses groups that are none, each at its place', () => {
    const { code, data } = refusalOf(() =>
      apply(base, '{"set":{"a":null,"b":{"x":{"id":"1"}},"c":{}},"remove":["a"]}'),
    )
    expect(code).to.equal('invalid_request')
    expect(data.errors?.map((problem) => problem.loc)).to.deep.equal([
      [...loc, 'set', 'a'],
      [...loc, 'set', 'b', 'x', 'id'],
    ])
  })
})

function apply(before: string | undefined, delta: string, isExisting = false): string {
  const data = before === undefined ? undefined : (parseJson(`{"references":${before}}`) as JsonObject)
  const context = { loc, servicesBase: '', isExisting }
  return stringifyJson(applyEnvironmentDelta(data, parseJson(delta), context).data)
}
