import { expect } from 'chai'
import fc from 'fast-check'
import { type Operation, applyPatch } from 'rfc6902'
import {
  equalJson,
  type Json,
  getKey,
  isJsonArray,
  isJsonObject,
  withKey,
  withoutKey,
} from '../../../../src/base/json/json.ts'
import { type JsonPatchOperation, jsonPatch, patchInSlices } from '../../../../src/base/diff/json-patch.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { restsDuring } from '../../../support/rests.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('json: RFC 6902 patches', () => {
  const patch = (base: string, head: string): string =>
    stringifyJson(jsonPatch(parseJson(base), parseJson(head)))

  it('turn base into head, for any two values', () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (base, head) => {
        expect(equalJson(applied(base, jsonPatch(base, head)), head)).to.equal(true)
      }),
      { numRuns: 300 },
    )
  })

  it('turn base into head, for two values that share much', () => {
    const item = fc.oneof(
      fc.integer({ min: 0, max: 3 }),
      fc.record({ k: fc.integer({ min: 0, max: 2 }), v: fc.constant(1) }),
    )
    const value = fc.record({
      a: fc.array(item, { maxLength: 8 }),
      b: fc.array(fc.array(item, { maxLength: 3 })),
    })
    fc.assert(
      fc.property(value, value, (base, head) => {
        expect(applied(base, jsonPatch(base, head))).to.deep.equal(head)
      }),
      { numRuns: 500 },
    )
  })

  it('are what a patch library of others applies', () => {
    // the library refuses __proto__ in a path, which it would take for the prototype
    const ordinary = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__'))
    fc.assert(
      fc.property(ordinary, ordinary, (base, head) => {
        const [document, wanted] = [base, head].map((root) => JSON.parse(JSON.stringify({ root })) as Json)
        const text = patch(JSON.stringify({ root: base }), JSON.stringify({ root: head }))
        const problems = applyPatch(document, JSON.parse(text) as Operation[])
        expect(problems.every((problem) => problem === null)).to.equal(true)
        expect(document).to.deep.equal(wanted)
      }),
    )
  })

  it('are empty for equal values, whatever the key order and the spelling of numbers', () => {
    expect(patch('{"a":1.0,"b":[{"x":1,"y":2}]}', '{"b":[{"y":2,"x":1e0}],"a":1}')).to.equal('[]')
    fc.assert(
      fc.property(arbitraryJson, (value) => jsonPatch(value, parseJson(stringifyJson(value))).length === 0),
    )
  })

  it('see the last digit, and give values exactly', () => {
    expect(patch('{"n":12345678901234567890}', '{"n":12345678901234567891}')).to.equal(
      '[{"op":"replace","path":"/n","value":12345678901234567891}]',
    )
    expect(patch('{"n":1.0,"m":{}}', '{"n":{"literal":"1.0"},"m":2.0}')).to.equal(
      '[{"op":"replace","path":"/n","value":{"literal":"1.0"}},{"op":"replace","path":"/m","value":2.0}]',
    )
    expect(patch('[1.0,2]', '[1.0,3,2]')).to.equal('[{"op":"add","path":"/1","value":3}]')
  })

  it('name awkward keys as RFC 6901 does', () => {
    expect(patch('{"__proto__":{"a":1},"1":1}', '{"__proto__":{"a":2},"0":{"b":1,"0":2}}')).to.equal(
      '[{"op":"remove","path":"/1"},{"op":"replace","path":"/__proto__/a","value":2},{"op":"add","path":"/0","value":{"b":1,"0":2}}]',
    )
    expect(patch('{"a/b":{"~":1,"":1,".x":1}}', '{"a/b":{"~":2,"":2,".x":2}}')).to.equal(
      '[{"op":"replace","path":"/a~1b/~0","value":2},{"op":"replace","path":"/a~1b/","value":2},{"op":"replace","path":"/a~1b/.x","value":2}]',
    )
  })

  it('say what changed in an array and no more', () => {
    expect(patch('[{"m":"a"},{"m":"b"},{"m":"c"}]', '[{"m":"a"},{"m":"B"},{"m":"c"}]')).to.equal(
      '[{"op":"replace","path":"/1/m","value":"B"}]',
    )
    expect(patch('[1,2,3]', '[0,1,3,4,5]')).to.equal(
      '[{"op":"add","path":"/0","value":0},{"op":"remove","path":"/2"},{"op":"add","path":"/3","value":4},{"op":"add","path":"/4","value":5}]',
    )
    expect(patch('[1,2,3,4]', '[9]')).to.equal(
      '[{"op":"replace","path":"/0","value":9},{"op":"remove","path":"/1"},{"op":"remove","path":"/1"},{"op":"remove","path":"/1"}]',
    )
    const long = Array.from({ length: 20_000 }, (_, index) => index)
    expect(jsonPatch(long, long.toSpliced(10_000, 1))).to.deep.equal([{ op: 'remove', path: '/10000' }])
  })

  it('stand for a document that appears or goes', () => {
    expect(jsonPatch(undefined, undefined)).to.deep.equal([])
    expect(jsonPatch(undefined, null)).to.deep.equal([{ op: 'add', path: '', value: null }])
    expect(jsonPatch({ a: 1 }, undefined)).to.deep.equal([{ op: 'remove', path: '' }])
    expect(jsonPatch(1, [])).to.deep.equal([{ op: 'replace', path: '', value: [] }])
  })

  it('replace an array that is too different to align, and stay quick over many of them', () => {
    const table = (first: number): number[][] =>
      Array.from({ length: 400 }, (_, row) =>
        Array.from({ length: 500 }, (_, column) => first + row + column),
      )
    const [base, head] = [table(0), table(1_000_000)]
    const operations = jsonPatch(base, head)
    expect(equalJson(applied(base, operations), head)).to.equal(true)
    expect(operations).to.deep.include({ op: 'replace', path: '/399', value: head[399] })
  })

  it('are the same in slices, of heavy documents, and give turns', async () => {
    const rows = (first: number): Json =>
      parseJson(`[${Array.from({ length: 8000 }, (_, n) => `{"id":${n + first},"1":[1.0,"x"]}`).join()}]`)
    const keys = (more: string): Json =>
      parseJson(`{${Array.from({ length: 9000 }, (_, n) => `"key ${n}":{"n":${n}}`).join()},${more}}`)
    const text = 'x'.repeat(300_000)
    const pairs: readonly (readonly [Json, Json])[] = [
      [rows(0), rows(3)],
      [keys('"a":1'), keys('"b":[2]')],
      [
        { a: [rows(0), 1], b: text },
        { a: [rows(0), 2, rows(1)], b: `${text}y` },
      ],
      [[[rows(0)]], [[rows(1)]]],
      [rows(0), keys('"a":1')],
      [parseJson('[1.0,{"a":1,"b":2}]'), parseJson('[1,{"b":2,"a":1}]')],
      [{ a: rows(0) }, { a: rows(0) }],
    ]
    for (const [base, head] of pairs) {
      const operations = await patchInSlices(base, head)
      expect(equalJson(applied(base, operations), head)).to.equal(true)
      expect(stringifyJson(operations)).to.equal(stringifyJson(jsonPatch(base, head)))
    }
    const [base, head] = pairs[0] ?? expect.fail()
    expect(await restsDuring(() => patchInSlices(base, head))).to.be.at.least(50)
  })

  it('see two heavy arrays that only say the same otherwise as equal', async () => {
    const many = (item: string): Json => parseJson(`[${`${item},`.repeat(5000)}1]`)
    expect(await patchInSlices(many('{"a":1,"b":1.0}'), many('{"b":1,"a":1}'))).to.deep.equal([])
    expect(await patchInSlices({ a: many('{"a":1,"b":1}') }, { a: many('{"b":1,"a":2}') })).to.have.length(1)
  })

  it('take no longer for arrays in arrays', () => {
    const nested = (depth: number, leaf: Json): Json => (depth === 0 ? leaf : [nested(depth - 1, leaf)])
    expect(jsonPatch(nested(120, 1), nested(120, 2))).to.deep.equal([
      { op: 'replace', path: '/0'.repeat(120), value: 2 },
    ])
  })
})

/** RFC 6902's add, remove and replace, on exact values. */
function applied(base: Json, operations: readonly JsonPatchOperation[]): Json {
  return operations.reduce((value, operation) => {
    const path = operation.path.split('/').slice(1)
    return changed(
      value,
      path.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')),
      operation,
    )
  }, base)
}

function changed(value: Json, path: readonly string[], operation: JsonPatchOperation): Json {
  const [key, ...rest] = path
  if (key === undefined) {
    if (operation.op === 'remove') throw new Error('these tests remove no document')
    return operation.value
  }
  const step = rest.length > 0
  if (isJsonArray(value)) {
    const index = Number(key)
    expect(index).to.be.within(0, operation.op === 'add' && !step ? value.length : value.length - 1)
    if (step) return value.with(index, changed(value[index] ?? null, rest, operation))
    if (operation.op === 'remove') return value.toSpliced(index, 1)
    return value.toSpliced(index, operation.op === 'add' ? 0 : 1, operation.value)
  }
  if (!isJsonObject(value)) throw new Error(`${operation.path} leads into a scalar`)
  const member = getKey(value, key)
  expect(member === undefined, operation.path).to.equal(operation.op === 'add' && !step)
  if (step) return withKey(value, key, changed(member ?? null, rest, operation))
  return operation.op === 'remove' ? withoutKey(value, key) : withKey(value, key, operation.value)
}
