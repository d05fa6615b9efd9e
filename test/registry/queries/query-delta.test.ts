import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { applyQueryDelta } from '../../../src/registry/families/query-family.ts'
import { refusalOf } from '../refusal-of.ts'

const loc = ['body', 'query_revision_commit', 'delta']
const base =
  '{"filtering":{"operator":"or","conditions":[{"field":"a","value":0.10}]},"windowing":{"limit":50,"order":"ascending"}}'

describe('query delta', () => {
  for (const [what, delta, after] of [
    [
      'merges objects and removes after setting',
      '{"set":{"windowing":{"limit":5,"rate":0.50}},"remove":["windowing.order"]}',
      base.replace('"limit":50,"order":"ascending"', '"limit":5,"rate":0.50'),
    ],
    [
      'replaces the list of conditions',
      '{"set":{"filtering":{"conditions":[{"conditions":[]}]}}}',
      base.replace('{"field":"a","value":0.10}', '{"conditions":[],"operator":"and"}'),
    ],
    [
      'unsets by null at any level',
      '{"set":{"filtering":null,"windowing":{"order":null}}}',
      '{"windowing":{"limit":50}}',
    ],
    [
      'fills in an operator that it removed',
      '{"remove":["filtering.operator","windowing"]}',
      '{"filtering":{"conditions":[{"field":"a","value":0.10}],"operator":"and"}}',
    ],
    ['drops traces', '{"set":{"traces":[],"trace_ids":[]}}', base],
  ] as const) {
    it(what, () => {
      expect(apply(base, delta)).to.equal(after)
    })
  }

  it('starts from nothing when there is no revision with data yet', () => {
    expect(apply(undefined, '{"set":{"windowing":{"limit":1}}}')).to.equal('{"windowing":{"limit":1}}')
  })

  for (const [delta, code, places] of [
    ['{}', 'invalid_delta', [[]]],
    ['{"set":1,"remove":[""]}', 'invalid_delta', [['set'], ['remove', 0]]],
    ['{"operations":[]}', 'invalid_delta', [['operations']]],
    [
      '{"remove":["formatting.focus","windowing.limit.x","windowing"]}',
      'no_such_key',
      [
        ['remove', 0],
        ['remove', 1],
      ],
    ],
    ['{"set":{"limit":1}}', 'unknown_field', [['set', 'limit']]],
    ['{"set":{"windowing":{"limit":0}}}', 'invalid_request', [['set', 'windowing', 'limit']]],
    ['{"remove":["filtering.conditions"]}', 'invalid_request', [['set', 'filtering']]],
  ] as const) {
    it(`refuses ${delta}`, () => {
      const refusal = refusalOf(() => apply(base, delta))
      expect(refusal.code).to.equal(code)
      expect(refusal.data.errors?.map((problem) => problem.loc)).to.deep.equal(
        places.map((place) => [...loc, ...place]),
      )
    })
  }
})

function apply(before: string | undefined, delta: string): string {
  const data = before === undefined ? undefined : (parseJson(before) as JsonObject)
  return stringifyJson(applyQueryDelta(data, parseJson(delta), { loc, servicesBase: '' }).data)
}
