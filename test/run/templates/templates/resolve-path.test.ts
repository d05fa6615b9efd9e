import { expect } from 'chai'
import fc from 'fast-check'
import { fromEntries, type Json } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { resolvePath } from '../../../../src/run/templates/resolve-path.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('prompts: the path resolver', () => {
  const document = parseJson(
    '{"a": {"b": [10, {"c": "deep"}], "n": null}, "a.b": "literal", "x/y": 1, "": {"": 2}, "__proto__": 3, "7": 4}',
  )
  const table: readonly [expression: string, found: Json | undefined][] = [
    ['a.b', 'literal'],
    ['a.b.1.c', 'deep'],
    ['a..b.0', 10],
    ['.a.b.0.', 10],
    ['a.n', null],
    ['a.n.x', undefined],
    ['a.b[0]', undefined],
    ['a.b.2', undefined],
    ['a.b.length', undefined],
    ['constructor', undefined],
    ['__proto__', 3],
    ['7', 4],
    ['x/y', 1],
    ['', undefined],
    ['.', undefined],
    ['...', undefined],
    ['/a/b/1/c', 'deep'],
    ['/x~1y', 1],
    ['//', 2],
    ['/a/b/2', undefined],
    ['$.a.b[1].c', 'deep'],
    ["$['a.b']", 'literal'],
    ['$.a.b[*]', [10, { c: 'deep' }]],
    ['$..c', 'deep'],
    ['$.a.x', undefined],
    ['$.a.n', null],
    ['$', document],
    ['$a', undefined],
    ['$.', undefined],
    ['$[', undefined],
  ]
  for (const [expression, found] of table) {
    it(`${expression || 'nothing'} is ${found === document ? 'the document' : (JSON.stringify(found) ?? 'a failure')}`, () => {
      expect(resolvePath(expression, document)).to.deep.equal(found)
    })
  }

  it('a literal key goes first, dots alone too', () => {
    expect(resolvePath('..', { '..': 1 })).to.equal(1)
    expect(resolvePath('a[0]', { 'a[0]': 1 })).to.equal(1)
  })

  it('a path that looks at too much fails', () => {
    const large = { items: Array.from({ length: 100_000 }, (_, id) => ({ id })) }
    expect(resolvePath('$..*..*', large)).to.equal(undefined)
    expect(resolvePath('$.items[99999].id', large)).to.equal(99_999)
  })

  it('takes any expression on any document', () => {
    const piece = fc.constantFrom(
      '$',
      '.',
      '..',
      '[',
      ']',
      '*',
      '0',
      "'a'",
      '/',
      '~',
      '?',
      '@',
      'a',
      ':',
      '-1',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((it) => it.join('')),
        ),
        arbitraryJson,
        (path, json) => {
          resolvePath(path, json)
          resolvePath(path, fromEntries([[path, json]]))
        },
      ),
    )
  })
})
