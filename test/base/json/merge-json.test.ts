import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { isJsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { removePaths } from '../../../src/base/json/remove-paths.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { mergeJson } from '../../../src/registry/documents/deltas.ts'

describe('json: merge and remove', () => {
  const merge = (target: string, patch: string): string => stringifyJson(mergeJson(read(target), read(patch)))
  const remove = (target: string, ...path: string[]): string =>
    stringifyJson(removePaths(read(target), [path]))

  it('merges objects into objects, in place, and appends what is new in the order of the patch', () => {
    expect(merge('{"b":{"x":1,"y":2},"a":1}', '{"d":1,"b":{"z":3,"x":9},"c":2}')).to.equal(
      '{"b":{"x":9,"y":2,"z":3},"a":1,"d":1,"c":2}',
    )
  })

  it('replaces by scalars, arrays and nulls, and replaces them', () => {
    expect(
      merge('{"a":{"x":1},"b":[1,2],"c":1,"d":{"x":1}}', '{"a":null,"b":[3],"c":{"y":1},"d":1.0}'),
    ).to.equal('{"a":null,"b":[3],"c":{"y":1},"d":1.0}')
  })

  it('keeps awkward keys and numbers exact', () => {
    expect(merge('{"z":1.0,"1":{"b":1}}', '{"0":1e400,"1":{"a":2},"__proto__":{"x":1}}')).to.equal(
      '{"z":1.0,"1":{"b":1,"a":2},"0":1e400,"__proto__":{"x":1}}',
    )
    expect(merge('{}', '{"__proto__":{"admin":true},"constructor":{"prototype":1}}')).to.equal(
      '{"__proto__":{"admin":true},"constructor":{"prototype":1}}',
    )
    expect(({} as { admin?: boolean }).admin).to.equal(undefined)
  })

  it('changes neither argument', () => {
    const [target, patch] = [read('{"a":{"b":1}}'), read('{"a":{"c":1},"d":1}')]
    mergeJson(target, patch)
    removePaths(target, [['a', 'b']])
    expect(stringifyJson([target, patch])).to.equal('[{"a":{"b":1}},{"a":{"c":1},"d":1}]')
  })

  it('removes what a path leads to and nothing around it', () => {
    expect(remove('{"a":{"b":{"c":1,"d":2}},"e":1}', 'a', 'b', 'c')).to.equal('{"a":{"b":{"d":2}},"e":1}')
    expect(remove('{"a":{"b":1},"e":1}', 'a')).to.equal('{"e":1}')
    expect(remove('{"z":{"1":1,"0":2},"a":1}', 'z', '1')).to.equal('{"z":{"0":2},"a":1}')
    expect(remove('{"__proto__":{"x":1}}', '__proto__', 'x')).to.equal('{"__proto__":{}}')
  })

  it('leaves the very same object where a path leads nowhere', () => {
    const target = read('{"a":{"b":1},"list":[1]}')
    for (const path of [[], ['x'], ['a', 'x'], ['a', 'b', 'c'], ['list', '0'], ['constructor', 'name']]) {
      expect(removePaths(target, [path]), path.join('.')).to.equal(target)
    }
  })
})

function read(text: string): JsonObject {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new TypeError(`${text} is no object`)
  return value
}
