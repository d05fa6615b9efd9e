import { expect } from 'chai'
import { RowIndex } from '../../../../src/registry/testsets/dedup/row-index.ts'
import { positionsAfter } from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { encodeContent, encodeRow } from '../../../../src/registry/testsets/rows/stored-row.ts'
import { RecordedObjects } from '../recorded-objects.ts'

describe('RowIndex', () => {
  const hashOf = (n: number): string => encodeContent({ n }).hash

  /** Rows n of dedup id `id-n`, from 0. */
  const indexOf = async (count: number) => {
    const objects = new RecordedObjects()
    const target = Object.assign(objects, {
      artifactId: '',
      adopt: () => undefined,
      readMany: (oids: readonly string[]) => Promise.all(oids.map((oid) => objects.read(oid))),
      startingWith: async () => [],
      tips: () => [],
    })
    const positions = positionsAfter(undefined, count)
    const rows = positions.map((position, n) => {
      const oid = objects.write('blob', encodeRow(encodeContent({ n }), `id-${n}`))
      return [position, { oid, meta: undefined }] as const
    })
    const tree = await editRows(objects, undefined, new Map(rows))
    objects.forget()
    return { index: new RowIndex(target, tree), again: () => new RowIndex(target, tree), objects, positions }
  }

  it('knows which row holds a dedup id, and which contents there are, once it has learnt of them', async () => {
    const { index, positions } = await indexOf(600)
    await index.learn([hashOf(3), hashOf(600)], ['id-599', 'id-600'])
    expect(index.holderOf('id-599')).to.equal(positions[599])
    expect(index.holderOf('id-600')).to.equal(undefined)
    expect([index.hasContent(hashOf(3)), index.hasContent(hashOf(600))]).to.deep.equal([true, false])
  })

  it('a row that was changed or removed is what it is now, also when it is learnt of afterwards', async () => {
    const { index, positions } = await indexOf(3)
    const [zero = '', one = ''] = positions
    index.put(zero, { dedupId: 'new', contentHash: hashOf(1) })
    index.remove(one)
    await index.learn([hashOf(0), hashOf(1)], ['id-0', 'id-1', 'new'])
    expect([index.holderOf('id-0'), index.holderOf('id-1'), index.holderOf('new')]).to.deep.equal([
      undefined,
      undefined,
      zero,
    ])
    expect([index.hasContent(hashOf(0)), index.hasContent(hashOf(1))]).to.deep.equal([false, true])
    index.remove(zero)
    expect(index.hasContent(hashOf(1))).to.equal(false)
  })

  it('two rows of one content are two: the other is still there when one goes', async () => {
    const { index, positions } = await indexOf(2)
    const [zero = '', one = ''] = positions
    await index.learn([hashOf(0)], ['id-0', 'id-1'])
    index.put(one, { dedupId: 'id-1', contentHash: hashOf(0) })
    index.remove(zero)
    expect(index.hasContent(hashOf(0))).to.equal(true)
  })

  it('what was read once is not read again: a second look reads the candidate alone', async () => {
    const { index, again, objects } = await indexOf(600)
    await index.learn([], ['id-5'])
    objects.forget()
    await again().learn([], ['id-300'])
    expect(objects.reads.length).to.be.at.most(2)
  })
})
