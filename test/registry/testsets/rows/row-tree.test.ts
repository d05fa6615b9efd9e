import { expect } from 'chai'
import fc from 'fast-check'
import { git, temporaryFolder } from '../../../support/git/git-program.ts'
import { type Oid, hashObject, type TreeEntry, parseTree } from '../../../../src/git/objects/object.ts'
import type { RowBlobs, RowRange } from '../../../../src/registry/testsets/rows/row-entry.ts'
import type { RowPosition } from '../../../../src/registry/testsets/rows/row-position.ts'
import {
  parsePosition,
  positionPath,
  positionsAfter,
} from '../../../../src/registry/testsets/rows/row-position.ts'
import { countRows, editRows, rowAt, rowsOfTree } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { writeFile, writeTree } from '../../../../src/registry/payload/tree-files.ts'
import { RecordedObjects } from '../recorded-objects.ts'

const blob = (text: string): Oid => hashObject('blob', Buffer.from(text))
const row = (text: string, meta?: string): RowBlobs => ({
  oid: blob(text),
  meta: meta === undefined ? undefined : blob(meta),
})
const at = (path: string): RowPosition => parsePosition(path) ?? path
const changes = (rows: Readonly<Record<string, RowBlobs | undefined>>) =>
  new Map(Object.entries(rows).map(([path, blobs]) => [at(path), blobs]))

/** The rows as `path oid meta`. */
async function listed(objects: RecordedObjects, tree: Oid | undefined, range?: RowRange): Promise<string[]> {
  const lines: string[] = []
  for await (const batch of rowsOfTree(objects, tree, range)) {
    expect(batch).not.to.have.lengthOf(0)
    lines.push(...batch.map((entry) => lineOf(entry.position, entry)))
  }
  return lines
}

const lineOf = (position: RowPosition, { oid, meta }: RowBlobs) => `${positionPath(position)} ${oid} ${meta}`

describe('testsets: rows in a tree', () => {
  it('stand where git shows them, in git’s order', async () => {
    const objects = new RecordedObjects()
    const [a, b, meta] = ['{"a":1}\n', '{"b":2}\n', '{}\n'].map((text) =>
      objects.write('blob', Buffer.from(text)),
    )
    const rows = {
      '00/00/06': { oid: a!, meta: undefined },
      '00/00/05/80': { oid: b!, meta: meta! },
      '00/00/05': { oid: a!, meta: meta! },
      '05': { oid: b!, meta: undefined },
      '00/01/01': { oid: a!, meta: undefined },
    }
    const tree = await editRows(objects, undefined, changes(rows))
    const folder = temporaryFolder()
    objects.store(folder)
    expect(git(folder, ['ls-tree', '-r', '--name-only', tree!]).split('\n')).to.deep.equal([
      '00/00/05.json',
      '00/00/05.meta.json',
      '00/00/05/80.json',
      '00/00/05/80.meta.json',
      '00/00/06.json',
      '00/01/01.json',
      '05.json',
    ])
    git(folder, ['update-ref', 'refs/heads/main', git(folder, ['commit-tree', '-m', 'x', tree!])])
    expect(git(folder, ['fsck', '--strict', '--full'])).to.equal('')
  })

  it('hold what a plain list of rows would, whatever is set and removed', async () => {
    const byte = fc.constantFrom('00', '01', '05', '7f', '80', 'ff')
    const path = fc
      .array(byte, { minLength: 1, maxLength: 4 })
      .map((bytes) => bytes.join('/'))
      .filter((text) => parsePosition(text) !== undefined)
    const blobs = fc.option(
      fc
        .tuple(fc.nat({ max: 1 }), fc.option(fc.nat({ max: 1 })))
        .map(([oid, meta]) => row(`${oid}`, meta === null ? undefined : `m${meta}`)),
    )
    const edit = fc.dictionary(
      path,
      blobs.map((value) => value ?? undefined),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 4 }), path, async (edits, edge) => {
        const objects = new RecordedObjects()
        const model = new Map<RowPosition, RowBlobs>()
        const counts = new Map<string, number>()
        let tree: Oid | undefined
        for (const change of edits) {
          const before = tree
          tree = await editRows(objects, tree, changes(change))
          for (const [position, value] of changes(change)) {
            if (value) model.set(position, value)
            else model.delete(position)
          }
          expect(await countRows(objects, tree, counts)).to.equal(model.size)
          if (before === tree) expect(objects.writes).to.deep.equal([])
          objects.forget()
        }
        const rows = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
        const lines = rows.map(([position, value]) => lineOf(position, value))
        const beyond = lines.filter((line) => at(line.slice(0, line.indexOf(' '))) > at(edge))
        const below = lines.filter((line) => at(line.slice(0, line.indexOf(' '))) < at(edge))
        expect(await listed(objects, tree)).to.deep.equal(lines)
        expect(await listed(objects, tree, { descending: true })).to.deep.equal(lines.toReversed())
        expect(await listed(objects, tree, { after: at(edge) })).to.deep.equal(beyond)
        expect(await listed(objects, tree, { after: at(edge), descending: true })).to.deep.equal(
          below.toReversed(),
        )
        const found = await rowAt(objects, tree, at(edge))
        expect(found && lineOf(found.position, found)).to.equal(
          lines.find((line) => line.startsWith(`${edge} `)),
        )
        expect(await editRows(objects, undefined, model)).to.equal(tree)
      }),
      { numRuns: 80 },
    )
  })

  it('cost the folders on the way, and no others', async () => {
    const objects = new RecordedObjects()
    const positions = positionsAfter(undefined, 200_000)
    const rows = new Map(
      positions.map((position, index) => [
        position,
        { oid: index.toString(16).padStart(40, 'a'), meta: undefined },
      ]),
    )
    const tree = await editRows(objects, undefined, rows)
    const counts = new Map<string, number>()
    expect(await countRows(objects, tree, counts)).to.equal(200_000)

    objects.forget()
    const appended = await editRows(
      objects,
      tree,
      new Map([[positionsAfter(positions.at(-1), 1)[0]!, row('new')]]),
    )
    expect([objects.reads.length, objects.writes.length]).to.deep.equal([3, 3])
    objects.forget()
    expect(await countRows(objects, appended, counts)).to.equal(200_001)
    expect(objects.reads).to.have.lengthOf(3)
    objects.forget()
    const page = await rowsOfTree(objects, tree, { after: positions[100_000] }).next()
    expect(page.value?.[0]?.position).to.equal(positions[100_001])
    expect(objects.reads).to.have.lengthOf(3)
    objects.forget()
    expect(
      await editRows(
        objects,
        tree,
        new Map([
          [positions[7]!, rows.get(positions[7]!)],
          [at('ee/ee'), undefined],
        ]),
      ),
    ).to.equal(tree)
    expect(objects.writes).to.have.lengthOf(0)
  })

  describe('beside what somebody pushed', () => {
    const objects = new RecordedObjects()
    const file = (name: string): TreeEntry => writeFile(objects, name, Buffer.from(name))
    const readme = file('README.md')
    const foreign: readonly TreeEntry[] = [
      readme,
      file('00.json'),
      file('0A.json'),
      file('05.jsonl'),
      file('08.meta.json'),
      file('09'),
      { ...file('0b.json'), mode: '120000' },
      { mode: '160000', name: '0c.json', oid: '1'.repeat(40) },
      { mode: '160000', name: '0d', oid: '1'.repeat(40) },
      { mode: '40000', name: '0e.json', oid: writeTree(objects, [readme]) },
      { mode: '40000', name: '0f', oid: writeTree(objects, [readme]) },
    ]
    const tree = writeTree(objects, [
      ...foreign,
      { ...file('05.json'), mode: '100755' },
      file('05.meta.json'),
    ])
    const entries = async (oid: Oid | undefined) =>
      parseTree((await objects.read(oid ?? ''))?.bytes ?? Buffer.alloc(0))

    it('are the only rows', async () => {
      expect(await listed(objects, tree)).to.deep.equal([lineOf('\x05', row('05.json', '05.meta.json'))])
      expect(await countRows(objects, tree, new Map())).to.equal(1)
      expect(await rowAt(objects, tree, '\x0b')).to.equal(undefined)
      expect(
        await editRows(objects, tree, changes({ '08': undefined, '0b': undefined, '0f/01': undefined })),
      ).to.equal(tree)
    })

    it('leave it as it is', async () => {
      const edited = await editRows(
        objects,
        tree,
        changes({ '05': undefined, '07': row('7'), '0f/01': row('f1') }),
      )
      expect(await listed(objects, edited)).to.have.lengthOf(2)
      const emptied = await editRows(objects, edited, changes({ '07': undefined, '0f/01': undefined }))
      expect(emptied).to.equal(writeTree(objects, foreign))
      expect(await listed(objects, emptied)).to.deep.equal([])
    })

    it('take a name that they need', async () => {
      const names = ['08', '09/01', '0b', '0c', '0d/01', '0e']
      const edited = await editRows(
        objects,
        tree,
        changes(Object.fromEntries(names.map((name) => [name, row(name)]))),
      )
      expect(await listed(objects, edited)).to.deep.equal([
        lineOf('\x05', row('05.json', '05.meta.json')),
        ...names.map((name) => lineOf(at(name), row(name))),
      ])
      const found = await entries(edited)
      expect(found.map((entry) => entry.name)).to.include.members([
        'README.md',
        '00.json',
        '0A.json',
        '05.jsonl',
        '0f',
      ])
      expect(new Set(found.map((entry) => entry.name)).size).to.equal(found.length)
      expect(writeTree(objects, found)).to.equal(edited)
    })
  })

  it('end where rows may no longer lie', async () => {
    const objects = new RecordedObjects()
    let tree = writeTree(objects, [writeFile(objects, '01.json', Buffer.from('deep'))])
    for (let depth = 1; depth < 18; depth++) {
      if (depth === 16) expect(await listed(objects, tree)).to.have.lengthOf(1)
      tree = writeTree(objects, [{ mode: '40000', name: '01', oid: tree }])
    }
    expect(await listed(objects, tree)).to.deep.equal([])
    expect(await countRows(objects, tree, new Map())).to.equal(0)
    const tooDeep = new Map([['\x01'.repeat(17), row('x')]])
    for (const position of ['', '\x01\0', ...tooDeep.keys()]) {
      const refused = await editRows(objects, tree, new Map([[position, row('x')]])).catch(
        (error: unknown) => error,
      )
      expect(refused).to.be.instanceOf(RangeError)
    }
  })

  it('refuse a tree that is missing or cut short', async () => {
    const objects = new RecordedObjects()
    const tree = (await editRows(objects, undefined, changes({ '05': row('x') }))) ?? ''
    const cut = objects.write('tree', (await objects.read(tree))!.bytes.subarray(0, -1))
    for (const oid of [cut, '0'.repeat(40)]) {
      const refused = await countRows(objects, oid, new Map()).catch((error: unknown) => error)
      expect(refused).to.have.property('code', 'damaged_repository')
    }
  })
})
