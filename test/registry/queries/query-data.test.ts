import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { acceptQueryData } from '../../../src/registry/families/query-family.ts'
import { codeFor, refusalOf } from '../refusal-of.ts'

const loc = ['body', 'query_revision_commit', 'data']

describe('query data', () => {
  it('is stored as it was sent, digit for digit and key for key', () => {
    const sent =
      '{"windowing":{"rate":0.10,"limit":50,"newest":"2026-03-01T09:30:00Z","oldest":"2026-03-01","next":"0af7651916cd43dd8448eb211c80319c","order":"ascending","interval":60},"formatting":{"format":"opentelemetry","focus":"span"},"filtering":{"conditions":[{"value":{"7":1e400,"__proto__":[12345678901234567890],"a":null},"options":{"all":true},"field":"references","operator":"in","key":"k"}],"operator":"nor"}}'
    expect(stored(sent)).to.equal(sent)
  })

  it('may be empty, as may each part of it', () => {
    for (const sent of ['{}', '{"formatting":{},"windowing":{}}']) expect(stored(sent)).to.equal(sent)
  })

  it('fills in the operators of filterings, and of nothing else', () => {
    expect(
      stored(
        '{"filtering":{"conditions":[{"field":"a"},{"operator":"or","conditions":[{"conditions":[]},{"operator":null,"conditions":[]}]}]}}',
      ),
    ).to.equal(
      '{"filtering":{"conditions":[{"field":"a"},{"operator":"or","conditions":[{"conditions":[],"operator":"and"},{"conditions":[],"operator":"and"}]}],"operator":"and"}}',
    )
  })

  it('drops the traces that a retrieve found', () => {
    expect(stored('{"trace_ids":["a"],"windowing":{"limit":1},"traces":{"any":"thing"}}')).to.equal(
      '{"windowing":{"limit":1}}',
    )
  })

  it('takes null for absent, but inside a value', () => {
    expect(
      stored(
        '{"formatting":null,"other":null,"windowing":{"limit":null,"next":null},"filtering":{"operator":"or","conditions":[{"field":"a","conditions":null,"key":null,"value":null,"operator":null,"options":{"all":null}},{"field":"b","value":[null,{"c":null}]}]}}',
      ),
    ).to.equal(
      '{"windowing":{},"filtering":{"operator":"or","conditions":[{"field":"a","options":{}},{"field":"b","value":[null,{"c":null}]}]}}',
    )
  })

  for (const operator of [
    ...['is', 'is_not', 'eq', 'neq', 'gt', 'lt', 'gte', 'lte', 'btwn', 'startswith', 'endswith'],
    ...['contains', 'matches', 'like', 'in', 'not_in', 'has', 'has_not', 'exists', 'not_exists'],
  ]) {
    it(`takes the operator ${operator} in a condition`, () => {
      const condition = { field: 'a', operator }
      expect(stored(JSON.stringify(filteringOf(condition)))).to.contain(JSON.stringify(condition))
    })
  }

  it('takes the edges of numbers', () => {
    for (const windowing of ['{"rate":0}', '{"rate":1.0}', '{"limit":1}', '{"interval":0.5}']) {
      expect(stored(`{"windowing":${windowing}}`)).to.equal(`{"windowing":${windowing}}`)
    }
  })

  it('may be nested as deeply as a body may ever be', () => {
    const levels = 498
    const deep = `${'{"conditions":['.repeat(levels)}${']}'.repeat(levels)}`
    expect(stored(`{"filtering":${deep}}`).match(/"operator":"and"/g)).to.have.length(levels)
  })

  for (const [sent, place, word] of [
    ['[]', [], 'an array'],
    ['null', [], 'null'],
    ['{"parameters":{}}', ['parameters'], '"parameters" is not a key of data'],
    ['{"__proto__":{}}', ['__proto__'], '"__proto__"'],
    ['{"formatting":"trace"}', ['formatting'], 'a string'],
    ['{"formatting":{"focus":"traces"}}', ['formatting', 'focus'], '"traces"'],
    ['{"formatting":{"format":1}}', ['formatting', 'format'], 'svc, opentelemetry'],
    ['{"formatting":{"colour":1}}', ['formatting', 'colour'], 'focus, format'],
    ['{"filtering":[]}', ['filtering'], 'an array'],
    ['{"filtering":{}}', ['filtering'], '"conditions"'],
    ['{"filtering":{"conditions":null}}', ['filtering'], '"conditions"'],
    ['{"filtering":{"conditions":{}}}', ['filtering', 'conditions'], 'an object'],
    ['{"filtering":{"operator":"xor","conditions":[]}}', ['filtering', 'operator'], '"xor"'],
    ['{"filtering":{"operator":"is","conditions":[]}}', ['filtering', 'operator'], '"is"'],
    ['{"filtering":{"conditions":[],"limit":1}}', ['filtering', 'limit'], '"limit"'],
    ['{"filtering":{"conditions":[null]}}', ['filtering', 'conditions', 0], 'null'],
    ['{"filtering":{"conditions":["a"]}}', ['filtering', 'conditions', 0], 'a string'],
    ['{"filtering":{"conditions":[{}]}}', ['filtering', 'conditions', 0], '"field"'],
    ['{"filtering":{"conditions":[{"field":null}]}}', ['filtering', 'conditions', 0], '"field"'],
    ['{"filtering":{"conditions":[{"field":1}]}}', ['filtering', 'conditions', 0, 'field'], 'a number'],
    [
      '{"filtering":{"conditions":[{"field":"a","key":[]}]}}',
      ['filtering', 'conditions', 0, 'key'],
      'an array',
    ],
    [
      '{"filtering":{"conditions":[{"field":"a"},{"field":"a","operator":"or"}]}}',
      ['filtering', 'conditions', 1, 'operator'],
      '"or"',
    ],
    [
      '{"filtering":{"conditions":[{"field":"a","options":true}]}}',
      ['filtering', 'conditions', 0, 'options'],
      'a boolean',
    ],
    [
      '{"filtering":{"conditions":[{"field":"a","options":{"all":"yes"}}]}}',
      ['filtering', 'conditions', 0, 'options', 'all'],
      'a string',
    ],
    [
      '{"filtering":{"conditions":[{"field":"a","options":{"some":true}}]}}',
      ['filtering', 'conditions', 0, 'options', 'some'],
      'case_sensitive, exact_match, all',
    ],
    [
      '{"filtering":{"conditions":[{"field":"a","conditions":[]}]}}',
      ['filtering', 'conditions', 0, 'field'],
      'a filtering',
    ],
    [
      '{"filtering":{"conditions":[{"conditions":[{"field":"a","values":1}]}]}}',
      ['filtering', 'conditions', 0, 'conditions', 0, 'values'],
      'a condition',
    ],
    ['{"windowing":[]}', ['windowing'], 'an array'],
    ['{"windowing":{"offset":1}}', ['windowing', 'offset'], '"offset"'],
    ['{"windowing":{"newest":"yesterday"}}', ['windowing', 'newest'], '"yesterday"'],
    ['{"windowing":{"newest":"2026-13-01T00:00:00Z"}}', ['windowing', 'newest'], 'RFC 3339'],
    ['{"windowing":{"oldest":1772357400}}', ['windowing', 'oldest'], '1772357400'],
    ['{"windowing":{"next":""}}', ['windowing', 'next'], 'empty'],
    ['{"windowing":{"next":7}}', ['windowing', 'next'], '7'],
    ['{"windowing":{"limit":0}}', ['windowing', 'limit'], '0'],
    ['{"windowing":{"limit":1.5}}', ['windowing', 'limit'], '1.5'],
    ['{"windowing":{"limit":"5"}}', ['windowing', 'limit'], '"5"'],
    ['{"windowing":{"order":"up"}}', ['windowing', 'order'], 'ascending, descending'],
    ['{"windowing":{"interval":0}}', ['windowing', 'interval'], '0'],
    ['{"windowing":{"interval":1e400}}', ['windowing', 'interval'], '1e400'],
    ['{"windowing":{"rate":1.1}}', ['windowing', 'rate'], '1.1'],
    ['{"windowing":{"rate":-0.1}}', ['windowing', 'rate'], '-0.1'],
    ['{"windowing":{"rate":"0.5"}}', ['windowing', 'rate'], '"0.5"'],
  ] as const) {
    it(`refuses ${sent}`, () => {
      const refusal = refusalOf(() => stored(sent))
      const { message, data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_request'))
      expect(data.errors).to.have.length(1)
      expect(data.errors?.[0]?.loc).to.deep.equal([...loc, ...place])
      expect(data.errors?.[0]?.msg).to.contain(word)
      expect(message).to.contain([...loc, ...place].join('.'))
    })
  }

  it('names every problem at once', () => {
    const { data } = refusalOf(() =>
      stored(
        '{"a":1,"filtering":{"b":1,"conditions":[{"field":1},{"conditions":[{},{"field":"a","operator":1}]}]},"windowing":{"limit":0,"rate":2}}',
      ),
    )
    expect(data.errors?.map((problem) => problem.loc.slice(loc.length).join('.'))).to.deep.equal([
      'a',
      'filtering.b',
      'filtering.conditions.0.field',
      'filtering.conditions.1.conditions.0',
      'filtering.conditions.1.conditions.1.operator',
      'windowing.limit',
      'windowing.rate',
    ])
  })
})

function stored(text: string): string {
  const context = { loc, servicesBase: 'http://127.0.0.1:3000/services' }
  return stringifyJson(acceptQueryData(parseJson(text, { maxDepth: 1000 }), context).data)
}

function filteringOf(condition: object): object {
  return { filtering: { conditions: [condition] } }
}
