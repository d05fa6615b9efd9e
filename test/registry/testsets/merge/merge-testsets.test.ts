import { expect } from 'chai'
import type { Oid } from '../../../../src/git/objects/object.ts'
import { mergeTestsets } from '../../../../src/registry/testsets/merge/merge-testsets.ts'
import type { RowPosition } from '../../../../src/registry/testsets/rows/row-position.ts'
import { positionsAfter, positionsBetween } from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { encodeContent, encodeRow } from '../../../../src/registry/testsets/rows/stored-row.ts'
import { allRows } from '../../../../src/registry/testsets/rows/stored-rows.ts'
import type { EditedTestset, StoredTestset } from '../../../../src/registry/testsets/testset-payload.ts'
import { TimeSlice } from '../../../../src/base/scheduling/cooperative.ts'
import type { PayloadTarget } from '../../../../src/registry/payload/family.ts'
import type { Sides } from '../../../../src/registry/merge/merging.ts'
import { eachSide, Merging } from '../../../../src/registry/merge/merging.ts'
import { RecordedObjects } from '../recorded-objects.ts'

const LIMITS = { maxRows: 1_000_000, maxRowBytes: 1_000_000, maxColumns: 100 }

/** Counts the trees that a merge reads: a folder holds 255 rows, so few are few for each folder. */
describe('testsets: a merge of many rows', () => {
  const objects = new RecordedObjects()
  const row = (id: string): { readonly oid: Oid; readonly meta: undefined } => ({
    oid: objects.write('blob', encodeRow(encodeContent({ q: id }), id)),
    meta: undefined,
  })
  const stored = async (rows: ReadonlyMap<RowPosition, string>): Promise<StoredTestset> => {
    const changes = Array.from(rows, ([position, id]) => [position, row(id)] as const)
    return { kind: 'stored', tree: await editRows(objects, undefined, changes), columns: ['q'] }
  }
  const merged = async (sides: Sides<StoredTestset>) => {
    objects.forget()
    const merging = new Merging()
    const { payload } = await mergeTestsets(
      eachSide(sides, (payload) => ({ payload, entries: [] })),
      merging,
      // all that a merge of testsets asks of it
      { target: objects as unknown as PayloadTarget, slice: new TimeSlice(), servicesBase: '' },
      LIMITS,
    )
    const { reads } = objects
    const edited = payload as EditedTestset
    const tree = await editRows(objects, edited.base.tree, edited.changes)
    const rows = await allRows(objects, tree)
    const trees = await Promise.all(reads.map((oid) => objects.read(oid)))
    return {
      merging,
      rows: rows.map(({ oid }) => oid),
      trees: trees.filter((it) => it?.kind === 'tree').length,
    }
  }
  const oidsOf = async ({ tree }: StoredTestset): Promise<readonly Oid[]> =>
    (await allRows(objects, tree)).map(({ oid }) => oid)

  const COUNT = 5_000
  const positions = positionsAfter(undefined, COUNT + 1)
  const base = new Map(positions.slice(0, COUNT).map((position, at) => [position, `row ${at}`]))
  const last = positions[COUNT] ?? ''
  const FOLDERS = COUNT / 255

  it('reads each folder a few times, where one side put a row behind every row', async () => {
    const source = new Map(base)
    for (const [at, position] of positions.slice(0, COUNT).entries())
      source.set(positionsBetween(position, positions[at + 1], 1)[0] ?? '', `new ${at}`)
    const sides = {
      base: await stored(base),
      target: await stored(new Map([...base, [last, 'own']])),
      source: await stored(source),
    }
    const { rows, trees, merging } = await merged(sides)
    expect(merging.hasConflicts).to.equal(false)
    const expected = [...(await oidsOf(sides.source))]
    expect(rows.length).to.equal(expected.length + 1)
    expect(rows.filter((oid) => oid !== row('own').oid).join() === expected.join()).to.equal(true)
    // Each of the source's new rows lies in a folder of its own.
    expect(trees).to.be.below(3 * COUNT + 30 * FOLDERS)
  })

  it('reads each folder a few times, where both sides moved many rows apart', async () => {
    const turned = (step: number): ReadonlyMap<RowPosition, string> =>
      new Map(
        positions.slice(0, COUNT).map((position, at) => [
          position,
          // Each tenth row stands still.
          `row ${at % 10 === 0 ? at : Math.floor(at / 10) * 10 + 1 + (((at % 10) - 1 + step) % 9)}`,
        ]),
      )
    const sides = {
      base: await stored(base),
      target: await stored(turned(1)),
      source: await stored(turned(4)),
    }
    const { rows, trees, merging } = await merged(sides)
    expect(new Set(rows)).to.have.property('size', COUNT)
    expect(rows.join() === (await oidsOf(sides.target)).join()).to.equal(true)
    expect(merging.hasConflicts).to.equal(false)
    expect(trees).to.be.below(60 * FOLDERS)
  })

  it('reads each folder a few times, where one side appended as many rows and the other one', async () => {
    const more = positionsAfter(positions[COUNT - 1], COUNT)
    const sides = {
      base: await stored(base),
      target: await stored(new Map([...base, [last, 'own']])),
      source: await stored(new Map([...base, ...more.map((it, at): [string, string] => [it, `new ${at}`])])),
    }
    const { rows, trees } = await merged(sides)
    const expected = [...(await oidsOf(sides.source))]
    expected.splice(COUNT, 0, row('own').oid)
    expect(rows.join() === expected.join()).to.equal(true)
    expect(trees).to.be.below(30 * FOLDERS)
  })
})
