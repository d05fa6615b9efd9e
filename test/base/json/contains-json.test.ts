import { expect } from 'chai'
import fc from 'fast-check'
import { containsJson } from '../../../src/base/diff/contains-json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'

describe('json: containment', () => {
  const contains = (value: string, part: string): boolean => containsJson(parseJson(value), parseJson(part))

  it('finds a part as deep as it goes', () => {
    const value = '{"n":{"a":"b","c":1.0,"0":{"x":1}},"list":[1,{"k":1}],"z":null}'
    for (const part of [
      '{}',
      '{"n":{}}',
      '{"n":{"a":"b"}}',
      '{"n":{"c":1,"a":"b"}}',
      '{"n":{"0":{"x":1}}}',
      '{"list":[1,{"k":1.0}]}',
      '{"z":null}',
    ]) {
      expect(contains(value, part), part).to.equal(true)
    }
    for (const part of [
      '{"n":{"a":"c"}}',
      '{"n":"b"}',
      '{"n":{"a":{}}}',
      '{"n":{"0":{"x":2}}}',
      '{"list":[1]}',
      '{"list":[1,{}]}',
      '{"missing":null}',
      '{"constructor":{}}',
      '{"__proto__":{}}',
      '[]',
    ]) {
      expect(contains(value, part), part).to.equal(false)
    }
  })

  it('finds nothing in what is not there', () => {
    expect(containsJson(undefined, {})).to.equal(false)
    expect(containsJson(null, {})).to.equal(false)
  })

  it('finds every value in itself', () => {
    fc.assert(fc.property(arbitraryJson, (value) => containsJson(value, value)))
  })
})
