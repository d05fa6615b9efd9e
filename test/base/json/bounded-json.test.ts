import { expect } from 'chai'
import fc from 'fast-check'
import { boundedJson } from '../../../src/base/json/bounded-json.ts'
import { boundedText } from '../../../src/base/json/json-values.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'

describe('json: text of a bounded length', () => {
  it('is cut after so many characters, and never within one', () => {
    expect(boundedText('abc', 3)).to.equal('abc')
    expect(boundedText('abcd', 3)).to.equal('abc…')
    expect(boundedText('ab😀d', 3)).to.equal('ab…')
    expect(boundedText('a😀d', 3)).to.equal('a😀…')
  })

  it('is that of the value, as far as it goes', () => {
    const exact = '{"2":1.0,"1":[true,null,"é"],"__proto__":{"a":1e400}}'
    const value = parseJson(exact)
    expect(boundedJson(value, exact.length)).to.equal(exact)
    fc.assert(
      fc.property(fc.nat(exact.length - 1), (max) => boundedJson(value, max) === `${exact.slice(0, max)}…`),
    )
    fc.assert(
      fc.property(fc.json(), (text) => {
        const read = parseJson(text)
        const whole = stringifyJson(read)
        return boundedJson(read, whole.length) === whole
      }),
    )
  })
})
