import { expect } from 'chai'
import { fromEntries, type JsonObject } from '../../../../src/base/json/json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { inputRow } from '../../../../src/registry/testsets/import/input-row.ts'

describe('sentRow', () => {
  const take = (data: JsonObject, outer: JsonObject = {}) =>
    inputRow(data, outer, (key, problem) => {
      throw new Error(`${key} ${problem}`)
    })
  const ID = '0190a000-0000-8000-8000-000000000001'

  it('takes metadata out of the content, and leaves the rest in its order', () => {
    const row = take({ z: 1, __id__: ID.toUpperCase(), __tags__: { a: 'b' }, a: 2, __dedup_id__: 'x' })
    expect(stringifyJson(row.content)).to.equal('{"z":1,"a":2}')
    expect(row).to.deep.include({
      dedupId: 'x',
      isTestcase: ID,
      meta: { tags: { a: 'b' } },
      hasDedupColumn: false,
    })
  })

  it('a row without any is its own content, however its keys are called', () => {
    const data = fromEntries([
      ['__proto__', 1],
      ['10', 2],
      ['testcase_id', 3],
    ])
    expect(take(data)).to.deep.equal({
      content: data,
      dedupId: undefined,
      isTestcase: undefined,
      meta: undefined,
      hasDedupColumn: false,
    })
  })

  it('empty metadata is none', () => {
    const row = take({ a: 1, __id__: '', __dedup_id__: '', __tags__: null, __meta__: {} }, { flags: {} })
    expect(row).to.deep.equal({
      content: { a: 1 },
      dedupId: undefined,
      isTestcase: undefined,
      meta: undefined,
      hasDedupColumn: false,
    })
  })

  it('what came beside the data is the same, and refused when it came twice', () => {
    expect(take({ a: 1 }, { flags: { ok: true } }).meta).to.deep.equal({ flags: { ok: true } })
    expect(() => take({ a: 1, __tags__: { a: 'b' } }, { tags: { a: 'b' } })).to.throw(
      /^__tags__ is there, and tags/,
    )
    expect(() => take({ a: 1, __meta__: '{}' })).to.throw(/^__meta__ is not an object/)
    expect(() => take({ a: 1 }, { meta: [] })).to.throw(/^meta is not an object/)
  })

  it('two forms of a dedup id may agree', () => {
    expect(take({ testcase_dedup_id: 'x', __dedup_id__: 'x' })).to.deep.include({
      dedupId: 'x',
      hasDedupColumn: true,
    })
    expect(take({ testcase_dedup_id: '', __dedup_id__: 'x' }).dedupId).to.equal('x')
    expect(() => take({ testcase_dedup_id: 'y', __dedup_id__: 'x' })).to.throw('Send one of them')
    for (const odd of [5, true, ['x'], {}])
      expect(() => take({ testcase_dedup_id: odd })).to.throw('is not a string')
  })
})
