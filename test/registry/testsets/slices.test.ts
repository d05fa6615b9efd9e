import { expect } from 'chai'
import { hashObject } from '../../../src/git/objects/object.ts'
import { RowKeys } from '../../../src/registry/testsets/dedup/row-keys.ts'
import { inputRow } from '../../../src/registry/testsets/import/input-row.ts'
import { assignPositions, rowChanges } from '../../../src/registry/testsets/import/lay-rows.ts'
import { RowCollector } from '../../../src/registry/testsets/import/row-collector.ts'
import type { RowEntry } from '../../../src/registry/testsets/rows/row-entry.ts'
import { positionsAfter } from '../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../src/registry/testsets/rows/row-tree.ts'
import { allRows } from '../../../src/registry/testsets/rows/stored-rows.ts'
import { TimeSlice } from '../../../src/base/scheduling/cooperative.ts'
import { RecordedObjects } from './recorded-objects.ts'

const ROWS = 100_000

/** What has no end of its own shows by it that it lets others have their turn: nobody waits for it, and so it ends. */
describe('testsets: work on many rows', () => {
  const objects = new RecordedObjects()
  const reason = new Error('nobody waits')
  const unwanted = () => new TimeSlice(AbortSignal.abort(reason))
  const endOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )
  let rows: (RowEntry & { readonly key: string; readonly contentHash: string })[]
  before(() => {
    rows = positionsAfter(undefined, ROWS).map((position, index) => {
      const oid = hashObject('blob', Buffer.from(`${index}`))
      return { position, oid, meta: undefined, key: `${index}`, contentHash: oid }
    })
  })

  it('rests while it names them', async () => {
    const collector = new RowCollector(
      { put: (bytes) => hashObject('blob', bytes), get: async () => Buffer.alloc(0) },
      { maxRows: ROWS, maxRowBytes: 1000, maxColumns: 10 },
    )
    for (let n = 0; n < ROWS; n++) collector.add(inputRow({ n }, {}, () => expect.fail()))
    expect(await endOf(collector.finish(unwanted()))).to.equal(reason)
  })

  it('rests while it finds their places', async () => {
    const keysOf = async (): Promise<string[]> => []
    expect(await endOf(assignPositions(rows, rows.toReversed(), keysOf, unwanted()))).to.equal(reason)
  })

  it('rests while it works out what changed', async () => {
    const others = rows.map((row) => ({ ...row, meta: row.oid }))
    expect(await endOf(rowChanges(rows, others, unwanted()))).to.equal(reason)
  })

  it('rests while it writes, reads and notes their folders', async () => {
    const changes = await rowChanges([], rows, new TimeSlice())
    expect(await endOf(editRows(objects, undefined, changes, unwanted()))).to.equal(reason)
    const tree = await editRows(objects, undefined, changes)
    expect(await endOf(allRows(objects, tree, unwanted()))).to.equal(reason)
    expect(await endOf(new RowKeys().seed(objects, tree ?? '', rows.values(), unwanted()))).to.equal(reason)
  })
})
