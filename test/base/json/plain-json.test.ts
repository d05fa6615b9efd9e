import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { plainJson } from '../../../src/base/json/json.ts'

describe('json: the plain view for validators', () => {
  it('turns exact numbers into doubles and exact objects into plain ones', () => {
    expect(plainJson(parseJson('{"b":[1.0,1e400],"1":{"0":"x"},"a":null}'))).to.deep.equal({
      1: { 0: 'x' },
      b: [1, Infinity],
      a: null,
    })
  })

  it('makes __proto__ an own key and leaves the prototype alone', () => {
    const plain = plainJson(parseJson('{"__proto__":{"admin":true}}')) as { readonly admin?: boolean }
    expect(Object.keys(plain)).to.deep.equal(['__proto__'])
    expect(Object.getPrototypeOf(plain)).to.equal(Object.prototype)
    expect(plain.admin).to.equal(undefined)
    expect(JSON.stringify(plain)).to.equal('{"__proto__":{"admin":true}}')
  })
})
