import { deepStrictEqual } from 'node:assert'
import { expect } from 'chai'
import fc from 'fast-check'
import { ExactNumber, fromEntries } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { JsonText, stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'

describe('json: stringify', () => {
  it('gives back every value that was read, compact and indented', () => {
    fc.assert(
      fc.property(arbitraryJson, (value) => {
        const text = stringifyJson(value)
        deepStrictEqual(parseJson(text), value)
        expect(stringifyJson(parseJson(stringifyJson(value, 2)))).to.equal(text)
      }),
    )
  })

  it('lays out ordinary values as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(stringifyJson(value)).to.equal(JSON.stringify(value))
        expect(stringifyJson(value, 2)).to.equal(JSON.stringify(value, null, 2))
      }),
    )
  })

  it('gives back the text itself, odd numbers and keys included', () => {
    const text =
      '{"b":1.0,"10":[-0,1e400,12345678901234567890],"9":{},"__proto__":{"constructor":[]},"é😀":"\\n"}'
    expect(stringifyJson(parseJson(text))).to.equal(text)
    expect(stringifyJson(parseJson('{"1":[1.0,{}],"0":[]}'), 2)).to.equal(
      '{\n  "1": [\n    1.0,\n    {}\n  ],\n  "0": []\n}',
    )
  })

  it('leaves out undefined members and nothing else', () => {
    expect(stringifyJson({ a: undefined, b: null, c: 0, d: { e: undefined } })).to.equal(
      '{"b":null,"c":0,"d":{}}',
    )
  })

  it('writes a ready text as it stands', () => {
    const data = new JsonText('{"x" : 1.0}')
    expect(stringifyJson({ count: 1, data, list: [data] })).to.equal(
      '{"count":1,"data":{"x" : 1.0},"list":[{"x" : 1.0}]}',
    )
    expect(stringifyJson({ data }, 2)).to.equal('{\n  "data": {"x" : 1.0}\n}')
    expect(stringifyJson(fromEntries([['1', new ExactNumber('2.50')]]))).to.equal('{"1":2.50}')
  })

  for (const [what, value] of [
    ['NaN', NaN],
    ['an infinity', [Infinity]],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a bigint', { a: 1n }],
    ['a function', { toJSON: () => 1 }],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
  ] as const) {
    it(`refuses ${what}, which JSON cannot say`, () => {
      expect(() => stringifyJson(value)).to.throw(TypeError, /^JSON cannot say .*;/)
    })
  }
})
