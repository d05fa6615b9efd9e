import { expect } from 'chai'
import { Refusal } from '../../../../src/errors.ts'
import type { Json } from '../../../../src/base/json/json.ts'
import { acceptTestset } from '../../../../src/registry/testsets/accept-testset.ts'
import { onlyAddsRows, parseRowDelta } from '../../../../src/registry/testsets/deltas/row-delta.ts'
import { restsDuring } from '../../../support/rests.ts'

describe('row deltas', () => {
  const ID = '0190a000-0000-8000-8000-000000000001'

  it('absent and null members ask for nothing', async () => {
    const deltas: Json[] = [
      {},
      { rows: null, columns: null },
      { rows: { add: null }, columns: { replace: null } },
    ]
    for (const delta of deltas) {
      const { columns, replace, remove, add } = await parseRowDelta(delta, [], false)
      expect([columns.add, columns.remove, [...columns.rename], replace, remove, add].flat()).to.deep.equal(
        [],
      )
    }
  })

  it('names every problem with its place at once', async () => {
    const delta: Json = {
      rows: { add: [{ data: 5 }, 'x'], remove: [ID, 7], replace: [{ id: ID, q: 1 }, { data: {} }] },
      columns: {
        add: 'a',
        drop: [],
        replace: [
          ['a', 1],
          ['b', 'c'],
          ['b', 'd'],
        ],
      },
    }
    try {
      await parseRowDelta(delta, ['delta'], false)
      expect.fail('it is no delta')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      expect(error.data.errors?.map(({ loc }) => loc.join('.'))).to.have.members([
        ...['delta.rows.add.0.data', 'delta.rows.add.1', 'delta.rows.remove.1', 'delta.rows.replace.0.q'],
        ...['delta.rows.replace.1.id', 'delta.columns.drop', 'delta.columns.add', 'delta.columns.replace.0'],
        'delta.columns.replace.2',
      ])
    }
  })

  it('are read in slices, as whole payloads are', async () => {
    const rows = Array.from({ length: 1024 }, () => ({ id: ID, data: {} }))
    const read = [
      () => parseRowDelta({ rows: { add: rows } }, [], false),
      () => parseRowDelta({ rows: { replace: rows } }, [], false),
      () => acceptTestset({ testcases: rows }, { loc: [], servicesBase: '' }),
    ]
    for (const work of read) expect(await restsDuring(work)).to.be.at.least(1024 / 64)
  })

  it('may be applied to a later revision exactly if they only add rows', () => {
    const adding: Json[] = [
      {},
      { rows: { add: [{ data: {} }] } },
      { rows: { remove: [] }, columns: { add: [] } },
    ]
    for (const delta of adding) expect(onlyAddsRows(delta)).to.equal(true)
    const others: Json[] = [
      { rows: { remove: [ID] } },
      { rows: { replace: [{ id: ID, data: {} }] } },
      { columns: { add: ['a'] } },
      { columns: { remove: ['a'] } },
      { columns: { replace: [['a', 'b']] } },
    ]
    for (const delta of others) expect(onlyAddsRows(delta)).to.equal(false)
  })
})
