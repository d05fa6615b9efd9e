import { expect } from 'chai'
import fc from 'fast-check'
import {
  equalJson,
  type Json,
  entriesOf,
  fromEntries,
  isJsonArray,
  isJsonObject,
} from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('json: equality', () => {
  const equal = (a: string, b: string): boolean => equalJson(parseJson(a), parseJson(b))

  it('compares numbers by their exact decimal value', () => {
    const same: [string, string][] = [
      ['1.0', '1'],
      ['1e2', '100'],
      ['100', '1E+02'],
      ['-0', '0'],
      ['0e99999999999999999999', '-0.00'],
      ['0.0010', '1e-3'],
      ['12345678901234567890', '1234567890123456789e1'],
      ['1e400', '10.0e399'],
      ['-1.50', '-15e-1'],
      ['1e99999999999999999999', '10e99999999999999999998'],
    ]
    for (const [a, b] of same) expect([equal(a, b), equal(b, a)], `${a} ${b}`).to.deep.equal([true, true])
    const different: [string, string][] = [
      ['12345678901234567890', '12345678901234567891'],
      ['0.1', '0.1000000000000000055'],
      ['1e400', '1e401'],
      ['1e-400', '0'],
      ['1.0', '-1.0'],
      ['9007199254740992', '9007199254740993'],
      ['1', '2'],
      ['1.0', '"1.0"'],
      ['1.0', 'null'],
      ['0', 'false'],
    ]
    for (const [a, b] of different)
      expect([equal(a, b), equal(b, a)], `${a} ${b}`).to.deep.equal([false, false])
  })

  it('compares absurd powers of ten by their spelling, at once', () => {
    const huge = '1e' + '9'.repeat(1_000_000)
    expect(equal(huge, huge)).to.equal(true)
    expect(equal(huge, '1.0e' + '9'.repeat(1_000_000))).to.equal(false)
  })

  it('ignores key order and keeps array order', () => {
    expect(equal('{"a":1,"b":{"c":1,"d":2}}', '{"b":{"d":2,"c":1},"a":1}')).to.equal(true)
    expect(equal('{"1":1,"0":2,"a":3}', '{"a":3,"0":2,"1":1}')).to.equal(true)
    expect(equal('[1,2]', '[2,1]')).to.equal(false)
    expect(equal('[1]', '[1,1]')).to.equal(false)
  })

  it('tells apart what only looks alike', () => {
    for (const [a, b] of [
      ['{}', '[]'],
      ['{}', 'null'],
      ['{"a":1}', '{"b":1}'],
      ['{"a":1}', '{"a":1,"b":1}'],
      ['{"__proto__":{}}', '{}'],
      ['{"__proto__":null}', '{"a":null}'],
      ['{"constructor":1}', '{"toString":1}'],
      ['""', 'null'],
      ['true', '"true"'],
    ] as const) {
      expect([equal(a, b), equal(b, a)], `${a} ${b}`).to.deep.equal([false, false])
    }
  })

  it('holds for any value against itself with every object turned around', () => {
    fc.assert(fc.property(arbitraryJson, (value) => equalJson(value, reversed(value))))
  })
})

function reversed(value: Json): Json {
  if (isJsonArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  return fromEntries(
    entriesOf(value)
      .map(([key, member]) => [key, reversed(member)] as const)
      .reverse(),
  )
}
