import { expect } from 'chai'
import fc from 'fast-check'
import { canonicalJson } from '../../../src/base/json/canonical-json.ts'
import {
  equalJson,
  type Json,
  entriesOf,
  fromEntries,
  isJsonArray,
  isJsonObject,
} from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'

const canonical = (text: string): string => canonicalJson(parseJson(text))

describe('json: canonical', () => {
  it('writes what RFC 8785 gives as its examples, but keeps the literals of numbers', () => {
    // section 3.2.2, whose first number a double would change
    const sample =
      '{"numbers": [333333333.3333333, 1E30, 4.5, 2e-3, 1e-27],' +
      '"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}'
    expect(canonical(sample)).to.equal(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1E30,4.5,2e-3,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
    // section 3.2.3: sorted by UTF-16 code units
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
    expect(
      entriesOf(parse(canonicalJson(fromEntries(keys.map((key) => [key, 0]))))).map(([key]) => key),
    ).to.deep.equal(sorted)
    // appendix B
    for (const text of [
      '0',
      '5e-324',
      '1.7976931348623157e+308',
      '9007199254740992',
      '295147905179352830000',
      '1e+23',
      '1e+21',
    ]) {
      expect(canonicalJson(Number(text))).to.equal(text)
    }
    expect(canonicalJson(-0)).to.equal('0')
    expect(canonicalJson('\b\t\n\f\r"\\\u0000\u001f\u007f/')).to.equal(
      '"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f\u007f/"',
    )
  })

  it('writes empty things, awkward keys and big numbers', () => {
    expect(canonical('{"b":{},"a":[],"":[[],{}]}')).to.equal('{"":[[],{}],"a":[],"b":{}}')
    expect(canonical('{"b":1,"10":1.0,"9":2,"__proto__":{"z":12345678901234567890,"a":-0}}')).to.equal(
      '{"10":1.0,"9":2,"__proto__":{"a":-0,"z":12345678901234567890},"b":1}',
    )
    const keys = Array.from({ length: 40 }, (_, index) => `k${(index * 7) % 40}`)
    const many = canonicalJson(fromEntries(keys.map((key) => [key, 1])))
    expect(many).to.equal(
      `{${[...keys]
        .sort()
        .map((key) => `"${key}":1`)
        .join()}}`,
    )
  })

  it('writes 200 levels, and refuses what JSON has no word for', () => {
    const deep = '['.repeat(200) + ']'.repeat(200)
    expect(canonicalJson(parseJson(deep, { maxDepth: 200 }))).to.equal(deep)
    for (const number of [NaN, Infinity]) expect(() => canonicalJson([number])).to.throw(TypeError)
  })

  it('says the same as the value, and always in the same way', () => {
    fc.assert(
      fc.property(arbitraryJson, (value) => {
        const text = canonicalJson(value)
        const again = parseJson(text)
        expect(equalJson(again, value)).to.equal(true)
        expect(canonicalJson(again)).to.equal(text)
        expect(canonicalJson(reversed(value))).to.equal(text)
      }),
    )
  })
})

function parse(text: string): Parameters<typeof entriesOf>[0] {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error('not an object')
  return value
}

/** The same value with all keys in the opposite order. */
function reversed(value: Json): Json {
  if (isJsonArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  return fromEntries(
    entriesOf(value)
      .map(([key, member]): [string, Json] => [key, reversed(member)])
      .reverse(),
  )
}
