import { expect } from 'chai'
import { rowPage } from '../../../../src/registry/testsets/rows/row-page.ts'
import { positionsAfter, positionsBetween } from '../../../../src/registry/testsets/rows/row-position.ts'
import { countRows, editRows, rowCounts } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { testcaseId } from '../../../../src/registry/testsets/testcase.ts'
import { RecordedObjects } from '../recorded-objects.ts'

describe('pages of rows', () => {
  const TESTSET = '0190a000-0000-7000-8000-7d41c0aa93fe'

  /** Rows in folders of 255. */
  const testsetOf = async (count: number) => {
    const objects = new RecordedObjects()
    const rows = positionsAfter(undefined, count).map((position, n) => ({
      position,
      oid: objects.write('blob', Buffer.from(`{"n":${n}}\n`)),
      meta: undefined,
    }))
    const tree = await editRows(objects, undefined, new Map(rows.map((row) => [row.position, row])))
    objects.forget()
    return { objects, rows, testset: { kind: 'stored', tree, columns: [] } as const }
  }

  it('a page from the middle of many reads three trees, and no row', async () => {
    const { objects, rows, testset } = await testsetOf(20_000)
    const first = await rowPage(objects, testset, TESTSET, { next: 'row-002805', limit: 10 }, 10)
    expect(first.rows).to.deep.equal(rows.slice(10_205, 10_215))
    expect(objects.reads).to.have.length(3)
    objects.forget()
    const before = await rowPage(objects, testset, TESTSET, { next: 'row-002805', order: 'descending' }, 3)
    expect(before.rows).to.deep.equal(rows.slice(10_201, 10_204).reverse())
    expect(objects.reads).to.have.length(3)
  })

  it('say how to go on exactly when rows remain', async () => {
    const { objects, rows, testset } = await testsetOf(256)
    for (const order of ['ascending', 'descending'] as const) {
      const inOrder = order === 'ascending' ? rows : rows.toReversed()
      for (const limit of [1, 254, 255]) {
        const page = await rowPage(objects, testset, TESTSET, { order }, limit)
        const { next } = page.windowing as { next: string } // there, because rows remain
        const rest = await rowPage(objects, testset, TESTSET, { order, next }, 256 - limit)
        expect([...page.rows, ...rest.rows]).to.deep.equal(inOrder)
        expect(rest.windowing).to.equal(undefined)
      }
      expect((await rowPage(objects, testset, TESTSET, { order }, 256)).windowing).to.equal(undefined)
    }
  })

  it('an offset reads three trees and no row, once the rows of each folder are counted', async () => {
    const { objects, rows, testset } = await testsetOf(20_000)
    await countRows(objects, testset.tree, rowCounts)
    for (const [offset, order] of [
      [12_345, 'ascending'],
      [12_300, 'descending'],
    ] as const) {
      objects.forget()
      const page = await rowPage(objects, testset, TESTSET, { offset, order }, 10)
      const inOrder = order === 'ascending' ? rows : rows.toReversed()
      expect(page.rows).to.deep.equal(inOrder.slice(offset, offset + 10))
      expect(objects.reads).to.have.length(3)
    }
  })

  it('an offset finds rows that lie between others, wherever it leads', async () => {
    const { objects, rows, testset } = await testsetOf(300)
    const between = positionsBetween(rows[9]?.position, rows[10]?.position, 400)
    const inserted = between.map((position, n) => ({
      position,
      oid: objects.write('blob', Buffer.from(`{"between":${n}}\n`)),
      meta: undefined,
    }))
    const tree = await editRows(
      objects,
      testset.tree,
      new Map(inserted.map((row) => [row.position, row] as const)),
    )
    const all = [...rows.slice(0, 10), ...inserted, ...rows.slice(10)]
    for (const order of ['ascending', 'descending'] as const) {
      const inOrder = order === 'ascending' ? all : all.toReversed()
      for (let offset = 0; offset <= all.length; offset++) {
        const page = await rowPage(objects, { ...testset, tree }, TESTSET, { offset, order }, 2)
        expect(page.rows, `${order} ${offset}`).to.deep.equal(inOrder.slice(offset, offset + 2))
      }
    }
  })

  it('behind a testcase are the rows that follow it', async () => {
    const { objects, rows, testset } = await testsetOf(3)
    const next = testcaseId(rows[1]?.oid ?? '', TESTSET)
    expect((await rowPage(objects, testset, TESTSET, { next }, 9)).rows).to.deep.equal(rows.slice(2))
    for (const cursor of [next.replace(/.$/, '0'), 'row-', 'row-0', 'row-00/01', 'row-000000'])
      expect(
        await rowPage(objects, testset, TESTSET, { next: cursor }, 9).then(
          () => 'a page',
          (error: Error) => error.message,
        ),
      ).to.include(`"${cursor}" is no cursor`)
  })

  it('of no rows are empty', async () => {
    const testset = { kind: 'stored', tree: undefined, columns: [] } as const
    const page = await rowPage(new RecordedObjects(), testset, TESTSET, undefined, 5)
    expect(page).to.deep.equal({ rows: [], windowing: undefined })
  })
})
