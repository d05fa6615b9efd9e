import { expect } from 'chai'
import { changeColumnNames, rowChange } from '../../../../src/registry/testsets/deltas/change-columns.ts'
import { fromEntries } from '../../../../src/base/json/json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'

describe('columns of rows', () => {
  const change = (add: string[], remove: string[], ...rename: [string, string][]) => ({
    add,
    remove,
    rename: new Map(rename),
    order: [],
    loc: [],
  })

  for (const [what, asked, expected] of [
    ['are renamed where they stand', change([], [], ['a', 'x']), '{"x":1,"b":2,"c":3}'],
    ['swap', change([], [], ['a', 'c'], ['c', 'a']), '{"c":1,"b":2,"a":3}'],
    ['rotate', change([], [], ['a', 'b'], ['b', 'c'], ['c', 'a']), '{"b":1,"c":2,"a":3}'],
    ['are removed by their old names, which beats a rename', change([], ['a'], ['a', 'x']), '{"b":2,"c":3}'],
    ['removed make room for another of that name', change([], ['b'], ['a', 'b']), '{"b":1,"c":3}'],
    [
      'are added empty at the end, unless they are there',
      change(['b', 'd'], []),
      '{"a":1,"b":2,"c":3,"d":""}',
    ],
    ['removed and added are emptied, at the end', change(['a'], ['a']), '{"b":2,"c":3,"a":""}'],
    [
      '__proto__ is one like others',
      change(['__proto__'], [], ['a', '10']),
      '{"10":1,"b":2,"c":3,"__proto__":""}',
    ],
  ] as const) {
    it(what, () => {
      const row = fromEntries([
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ])
      const changed = rowChange(asked, () => undefined)(row)
      expect(stringifyJson(changed)).to.equal(expected)
      const names = [...expected.matchAll(/"([^"]+)":/g)].map(([, name]) => name)
      expect(changeColumnNames(['a', 'b', 'c'], asked)).to.deep.equal(names)
    })
  }
})
