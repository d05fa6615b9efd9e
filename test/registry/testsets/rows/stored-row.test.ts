import { expect } from 'chai'
import fc from 'fast-check'
import { equalJson, fromEntries } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import {
  contentOf,
  decodeRow,
  decodeRowMeta,
  dedupIdOf,
  encodeContent,
  encodeRow,
  inColumnOrder,
} from '../../../../src/registry/testsets/rows/stored-row.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

describe('stored rows', () => {
  const anyContent = fc
    .array(fc.tuple(fc.string({ unit: 'grapheme' }), arbitraryJson), { maxLength: 5 })
    .map((members) => fromEntries(new Map(members.filter(([key]) => key !== 'testcase_dedup_id'))))

  it('are canonical JSON, the dedup id among the keys, and one line', () => {
    const content = fromEntries([
      ['z', { b: 1, a: [] }],
      ['10', 'x'],
      ['é', null],
    ])
    expect(encodeRow(encodeContent(content), 'mine').toString()).to.equal(
      '{"10":"x","testcase_dedup_id":"mine","z":{"a":[],"b":1},"é":null}\n',
    )
  })

  it('come back as they were, whatever they hold; the order of keys makes no other row', () => {
    fc.assert(
      fc.property(anyContent, fc.string({ unit: 'grapheme', minLength: 1 }), (content, dedupId) => {
        const data = decodeRow(encodeRow(encodeContent(content), dedupId))
        expect(dedupIdOf(data)).to.equal(dedupId)
        expect(equalJson(contentOf(data), content)).to.equal(true)
        expect(encodeContent(contentOf(data)).hash).to.equal(encodeContent(content).hash)
      }),
    )
  })

  it('are shown in the order of the columns, then the rest, the dedup id last unless it is a column', () => {
    const data = decodeRow(Buffer.from('{"a":1,"b":2,"c":3,"testcase_dedup_id":"x"}\n'))
    expect(stringifyJson(inColumnOrder(data, ['c', 'none', 'a']))).to.equal(
      '{"c":3,"a":1,"b":2,"testcase_dedup_id":"x"}',
    )
    expect(stringifyJson(inColumnOrder(data, ['testcase_dedup_id', 'b']))).to.equal(
      '{"testcase_dedup_id":"x","b":2,"a":1,"c":3}',
    )
  })

  it('that are no objects are refused by their name; a dedup id that is no string is none', () => {
    for (const text of ['', 'x', '[1]', '"a"', '{"a":1,"a":2}'])
      expect(() => decodeRow(Buffer.from(text), () => 'testcases/05.json')).to.throw(/testcases\/05\.json/)
    expect(dedupIdOf(decodeRow(Buffer.from('{"testcase_dedup_id":5}')))).to.equal(undefined)
  })

  it('flags, tags and meta that are no objects are left out', () => {
    const read = decodeRowMeta(Buffer.from('{"flags":[],"tags":{"a":"b"},"other":{}}'))
    expect(read).to.deep.equal({ tags: parseJson('{"a":"b"}') })
  })
})
