import { expect } from 'chai'
import fc from 'fast-check'
import { git, temporaryFolder } from '../../../support/git/git-program.ts'
import { type Oid, hashObject } from '../../../../src/git/objects/object.ts'
import {
  type KeysOfBase,
  type UnplacedRow,
  assignPositions as placeInSlices,
  rowChanges as changesInSlices,
} from '../../../../src/registry/testsets/import/lay-rows.ts'
import type { RowEntry } from '../../../../src/registry/testsets/rows/row-entry.ts'
import {
  isTooDeep,
  positionPath,
  positionsAfter,
  positionsBetween,
} from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { TimeSlice } from '../../../../src/base/scheduling/cooperative.ts'
import { writeTree } from '../../../../src/registry/payload/tree-files.ts'
import { RecordedObjects } from '../recorded-objects.ts'

/** A row `name`, or `name version`: its key is the name. */
interface TestRow extends UnplacedRow {
  readonly text: string
}

const testRow = (text: string): TestRow => ({
  text,
  oid: hashObject('blob', Buffer.from(`${text}\n`)),
  key: text.split(' ')[0] ?? '',
})
const testRows = (count: number): TestRow[] =>
  Array.from({ length: count }, (_, index) => testRow(`r${index}`))

const placeRows = (base: readonly RowEntry[], next: readonly UnplacedRow[], keysOfBase: KeysOfBase) =>
  placeInSlices(base, next, keysOfBase, new TimeSlice())
const rowChanges = (base: readonly RowEntry[], next: readonly RowEntry[]) =>
  changesInSlices(base, next, new TimeSlice())

async function place(
  base: readonly (RowEntry & TestRow)[],
  next: readonly TestRow[],
): Promise<(RowEntry & TestRow)[]> {
  const positions = await placeRows(base, next, async (indexes) => indexes.map((index) => base[index]?.key))
  return next.map((row, index) => ({ ...row, meta: undefined, position: positions[index] ?? '' }))
}

const isKept = (row: RowEntry & TestRow, base: readonly (RowEntry & TestRow)[]): boolean =>
  base.some((old) => old.key === row.key && old.position === row.position)

/** The length of a longest common subsequence of keys, the slow way. */
function mostInOrder(base: readonly TestRow[], next: readonly TestRow[]): number {
  let above = new Array<number>(base.length + 1).fill(0)
  for (const { key } of next) {
    const line = [0]
    base.forEach((row, index) =>
      line.push(row.key === key ? above[index]! + 1 : Math.max(above[index + 1]!, line[index]!)),
    )
    above = line
  }
  return above.at(-1)!
}

describe('testsets: placing rows', () => {
  it('numbers the first rows densely', async () => {
    expect((await place([], testRows(300))).map((row) => row.position)).to.deep.equal(
      positionsAfter(undefined, 300),
    )
    expect(await place(await place([], testRows(3)), [])).to.deep.equal([])
  })

  it('keeps rows by content and by dedup id, reuses what went, and puts the rest between', async () => {
    const base = await place([], testRows(6))
    const next = ['r0', 'new', 'r2', 'r3 edited', 'more', 'r4', 'r5', 'last'].map(testRow)
    expect((await place(base, next)).map((row) => positionPath(row.position))).to.deep.equal([
      '00/00/01',
      '00/00/02',
      '00/00/03',
      '00/00/04',
      '00/00/04/80',
      '00/00/05',
      '00/00/06',
      '00/00/07',
    ])
  })

  it('keeps as many rows as their order allows', async () => {
    const base = await place([], testRows(10))
    const moved = [9, 0, 1, 2, 7, 3, 4, 5, 6, 8].map((index) => base[index]!)
    const placed = await place(base, moved)
    const kept = placed.filter((row, index) => row.position === moved[index]!.position)
    expect(kept.map((row) => row.text)).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r8'])
  })

  it('asks only for the dedup ids of rows whose content went', async () => {
    const base = await place([], testRows(50))
    const asked: number[] = []
    const next = base
      .map((row, index) => (index === 20 ? testRow('r20 edited') : row))
      .filter((_, index) => index !== 30)
    await placeRows(base, next, async (indexes) => {
      asked.push(...indexes)
      return indexes.map((index) => base[index]?.key)
    })
    expect(asked).to.deep.equal([20, 30])
  })

  it('gives equal rows a place each', async () => {
    const base = (await place([], testRows(4))).map((row) => ({ ...row, ...testRow('same') }))
    expect(await place(base, base)).to.deep.equal(base)
    const positions = (await place(base, [...base.slice(1), ...base])).map((row) => row.position)
    expect(new Set(positions).size).to.equal(7)
    expect(positions).to.deep.equal(positions.toSorted())
  })

  it('keeps equal rows apart wherever they stand', async () => {
    const base = await place([], 'same p q r s t same v x same w y'.split(' ').map(testRow))
    const placed = await place(base, 'same same v same w z'.split(' ').map(testRow))
    expect(placed.map((row) => positionPath(row.position))).to.deep.equal(
      ['01', '07', '08', '0a', '0b', '0c'].map((byte) => `00/00/${byte}`),
    )
  })

  it('numbers everything anew where a row would lie too deep', async () => {
    const [first, second] = await place([], testRows(2))
    let low = first!
    while (!isTooDeep(positionsBetween(low.position, second!.position, 1)[0]!)) {
      low = { ...low, position: positionsBetween(low.position, second!.position, 1)[0]! }
    }
    const placed = await place([low, second!], [testRow('r0'), testRow('new'), testRow('r1')])
    expect(placed.map((row) => row.position)).to.deep.equal(positionsAfter(undefined, 3))
  })

  it('makes ascending places and changes that lead from one tree to the other, for any two lists', async () => {
    const list = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 30 })
    const edited = fc.array(fc.nat({ max: 2 }), { minLength: 41, maxLength: 41 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(list, edited), { maxLength: 4 }), async (revisions) => {
        const objects = new RecordedObjects()
        let base: (RowEntry & TestRow)[] = []
        let tree: Oid | undefined
        for (const [names, edits] of revisions) {
          const next = await place(
            base,
            names.map((name) => testRow(`r${name} ${edits[name]}`)),
          )
          const positions = next.map((row) => row.position)
          expect(positions).to.deep.equal([...new Set(positions)].sort())
          expect(next.filter((row) => isKept(row, base)).length).to.be.at.least(mostInOrder(base, next))
          tree = await editRows(objects, tree, await rowChanges(base, next))
          expect(tree).to.equal(await editRows(objects, undefined, await rowChanges([], next)))
          base = next
        }
      }),
      { numRuns: 100 },
    )
  })

  it('changes a row whose flags, tags or meta are others', async () => {
    const base = await place([], testRows(3))
    const next = base.map((row, index) => (index === 1 ? { ...row, meta: '1'.repeat(40) } : row))
    expect(await rowChanges(base, next)).to.deep.equal([[next[1]!.position, next[1]]])
    expect(await rowChanges(next, base)).to.deep.equal([[base[1]!.position, base[1]]])
  })

  describe('lets git show what changed and nothing else', () => {
    const objects = new RecordedObjects()
    const folder = temporaryFolder()
    const base = testRows(700)
    const revisions: Readonly<
      Record<string, { readonly next: readonly TestRow[]; readonly shows: readonly string[] }>
    > = {
      'an append': { next: [...base, testRow('new')], shows: ['A\ttestcases/00/02/bf.json'] },
      'a removal of the first row': { next: base.slice(1), shows: ['D\ttestcases/00/00/01.json'] },
      'an edit': {
        next: base.map((row) => (row.text === 'r300' ? testRow('r300 edited') : row)),
        shows: ['M\ttestcases/00/01/2e.json'],
      },
      'an edit of a row that is moved to the end': {
        next: [...base.slice(0, 10), ...base.slice(11), testRow('r10 edited')],
        shows: ['D\ttestcases/00/00/0b.json', 'A\ttestcases/00/02/bf.json'],
      },
      'an insertion in the middle': {
        next: [...base.slice(0, 300), testRow('new'), ...base.slice(300)],
        shows: ['A\ttestcases/00/01/2d/80.json'],
      },
    }
    const trees = new Map<string, Oid>()

    before(async () => {
      const placed = await place([], base)
      for (const row of [...base, ...Object.values(revisions).flatMap(({ next }) => next)]) {
        objects.write('blob', Buffer.from(`${row.text}\n`))
      }
      const inFolder = (oid: Oid) => writeTree(objects, [{ mode: '40000', name: 'testcases', oid }])
      const first = (await editRows(objects, undefined, await rowChanges([], placed)))!
      trees.set('base', inFolder(first))
      for (const [name, { next }] of Object.entries(revisions)) {
        const changes = await rowChanges(placed, await place(placed, next))
        trees.set(name, inFolder((await editRows(objects, first, changes))!))
      }
      objects.store(folder)
    })

    for (const [name, { shows }] of Object.entries(revisions)) {
      it(name, () => {
        const [from, to] = [trees.get('base')!, trees.get(name)!]
        const diff = git(folder, ['diff', '--no-renames', '--name-status', from, to]).split('\n')
        expect(diff).to.deep.equal(shows)
        expect(git(folder, ['diff', '--stat', '--no-renames', from, to])).to.match(
          new RegExp(`^ ${shows.length} files? changed`, 'm'),
        )
      })
    }
  })
})
