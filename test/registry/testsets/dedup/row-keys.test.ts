import { expect } from 'chai'
import { CacheFile } from '../../../../src/storage/files/cache-file.ts'
import { memoryFs } from '../../../../src/storage/memory-fs.ts'
import { keyOfDedupId, RowKeys } from '../../../../src/registry/testsets/dedup/row-keys.ts'
import { positionsAfter } from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { encodeContent, encodeRow } from '../../../../src/registry/testsets/rows/stored-row.ts'
import { RecordedObjects } from '../recorded-objects.ts'

describe('RowKeys', () => {
  const ROWS = 8000 // some forty folders

  /** Rows n of dedup id `id-n`, from 0, and those of another testset. */
  const testsetOf = async (objects: RecordedObjects, count: number, name = 'id') => {
    const positions = positionsAfter(undefined, count)
    const rows = positions.map((position, n) => {
      const oid = objects.write('blob', encodeRow(encodeContent({ name, n }), `${name}-${n}`))
      return [position, { oid, meta: undefined }] as const
    })
    return { positions, tree: await editRows(objects, undefined, new Map(rows)) }
  }

  it('forgets what others pushed out, and finds it in the file that was kept, reading few rows', async () => {
    const objects = new RecordedObjects()
    const { positions, tree } = await testsetOf(objects, ROWS)
    const file = new CacheFile(memoryFs(), '/row-keys')
    const keys = new RowKeys({ mostBytes: 120_000 })
    const look = async (n: number): Promise<number> => {
      objects.forget()
      const found = await keys.candidates(objects, tree, new Set([keyOfDedupId(`id-${n}`)]), file)
      expect(found.map(({ position }) => position)).to.deep.equal([positions[n]])
      return objects.reads.length
    }
    expect(await look(7)).to.be.greaterThan(ROWS)
    expect(await look(4000)).to.be.lessThan(5)
    await keys.candidates(objects, (await testsetOf(objects, ROWS, 'another')).tree, new Set())
    expect(await look(ROWS - 1)).to.be.within(10, 20)
    expect(await look(ROWS - 2)).to.be.lessThan(5)
  })
  it('tells rows apart of which it can remember few at a time', async () => {
    const objects = new RecordedObjects()
    const { positions, tree } = await testsetOf(objects, 20)
    const keys = new RowKeys({ mostRows: 4 })
    for (const n of [0, 7, 19]) {
      const found = await keys.candidates(objects, tree, new Set([keyOfDedupId(`id-${n}`)]))
      expect(found.map(({ position }) => position)).to.deep.equal([positions[n]])
    }
  })
})
