import { expect } from 'chai'
import {
  ExactNumber,
  ExactObject,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  numberOf,
  withKey,
  withoutKey,
} from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'

describe('json: objects in two representations', () => {
  const plain = fromEntries([
    ['b', 1],
    ['a', 2],
  ])
  const exact = fromEntries([
    ['b', 1],
    ['10', 2],
    ['__proto__', 3],
  ])

  it('picks a plain object where JavaScript keeps the order, and a map where it would not', () => {
    expect(plain).not.to.be.instanceOf(ExactObject)
    for (const key of ['0', '7', '4294967294', '__proto__']) {
      expect(
        fromEntries([
          ['z', 1],
          [key, 2],
        ]),
        key,
      ).to.be.instanceOf(ExactObject)
    }
    for (const key of ['01', '-1', '1.5', '1e3', '12345678901', '', 'constructor', '_proto_']) {
      expect(
        fromEntries([
          ['z', 1],
          [key, 2],
        ]),
        key,
      ).not.to.be.instanceOf(ExactObject)
      expect(
        keysOf(
          fromEntries([
            ['z', 1],
            [key, 2],
          ]),
        ),
      ).to.deep.equal(['z', key])
    }
  })

  it('keeps keys and entries in order in both', () => {
    expect(keysOf(plain)).to.deep.equal(['b', 'a'])
    expect(entriesOf(exact)).to.deep.equal([
      ['b', 1],
      ['10', 2],
      ['__proto__', 3],
    ])
  })

  it('finds own keys only, never the prototype’s', () => {
    for (const object of [plain, exact]) {
      for (const key of ['constructor', 'toString', 'hasOwnProperty', 'size', 'get']) {
        expect(getKey(object, key), key).to.equal(undefined)
        expect(hasKey(object, key), key).to.equal(false)
      }
    }
    expect(getKey(plain, '__proto__')).to.equal(undefined)
    expect(getKey(exact, '__proto__')).to.equal(3)
    expect(getKey(fromEntries([['constructor', 'mine']]), 'constructor')).to.equal('mine')
  })

  it('replaces in place, appends what is new, and changes no argument', () => {
    expect(entriesOf(withKey(plain, 'b', 9))).to.deep.equal([
      ['b', 9],
      ['a', 2],
    ])
    expect(keysOf(withKey(plain, 'c', 9))).to.deep.equal(['b', 'a', 'c'])
    expect(keysOf(withKey(plain, '5', 9))).to.deep.equal(['b', 'a', '5'])
    expect(entriesOf(withKey(exact, '10', 9))).to.deep.equal([
      ['b', 1],
      ['10', 9],
      ['__proto__', 3],
    ])
    expect(getKey(withKey(plain, '__proto__', 9), '__proto__')).to.equal(9)
    // As a schema lets it through: plain, with that key as its own.
    const odd = JSON.parse('{"__proto__":{"x":1},"a":1}')
    expect(stringifyJson(withKey(odd, 'a', 2))).to.equal('{"__proto__":{"x":1},"a":2}')
    expect(stringifyJson(withKey(odd, 'b', 2))).to.equal('{"__proto__":{"x":1},"a":1,"b":2}')
    expect(entriesOf(plain)).to.deep.equal([
      ['b', 1],
      ['a', 2],
    ])
    expect(getKey(exact, '10')).to.equal(2)
  })

  it('leaves out a key, and goes back to a plain object with the last awkward one', () => {
    const one = withoutKey(exact, '10')
    expect(one).to.be.instanceOf(ExactObject)
    expect(keysOf(one)).to.deep.equal(['b', '__proto__'])
    expect(withoutKey(one, '__proto__')).to.deep.equal({ b: 1 })
    expect(withoutKey(plain, 'constructor')).to.equal(plain)
  })

  it('tells objects from arrays, numbers and null', () => {
    expect([plain, exact].every(isJsonObject)).to.equal(true)
    expect([null, [], new ExactNumber('1.0'), 'a', 1, undefined].some(isJsonObject)).to.equal(false)
    expect(isJsonArray([])).to.equal(true)
    expect(isJsonArray(plain)).to.equal(false)
  })

  it('gives the nearest double of either kind of number', () => {
    expect(numberOf(1.5)).to.equal(1.5)
    expect(numberOf(new ExactNumber('1.0'))).to.equal(1)
    expect(numberOf(new ExactNumber('1e400'))).to.equal(Infinity)
    expect(numberOf('1')).to.equal(undefined)
    expect(numberOf(undefined)).to.equal(undefined)
  })
})
