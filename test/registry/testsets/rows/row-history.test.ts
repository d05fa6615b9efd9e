import { expect } from 'chai'
import { setImmediate } from 'node:timers/promises'
import { encodeCommit, hashObject, type Oid, type TreeEntry } from '../../../../src/git/objects/object.ts'
import { OidTable } from '../../../../src/registry/testsets/dedup/oid-table.ts'
import { RowHistory } from '../../../../src/registry/testsets/rows/row-history.ts'
import { positionsAfter } from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { writeFile, writeTree } from '../../../../src/registry/payload/tree-files.ts'
import { RecordedObjects } from '../recorded-objects.ts'

const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
const blob = (text: string): Oid => hashObject('blob', Buffer.from(text))

/** Commits of testsets whose rows hold the given texts. */
class Revisions extends RecordedObjects {
  #count = 0

  async commit(
    texts: readonly string[],
    parents: readonly Oid[] = [],
    others: readonly TreeEntry[] = [],
  ): Promise<Oid> {
    const positions = positionsAfter(undefined, texts.length)
    const rows = await editRows(
      this,
      undefined,
      new Map(
        positions.map((position, index) => [position, { oid: blob(texts[index]!), meta: blob('meta') }]),
      ),
    )
    const columns = writeFile(this, 'columns.json', Buffer.from('columns'))
    const folder = rows === undefined ? [] : [{ mode: '40000', name: 'testcases', oid: rows } as const]
    const tree = writeTree(this, [columns, ...folder, ...others])
    return this.write(
      'commit',
      encodeCommit({ tree, parents, author, committer: author, message: `Revision ${++this.#count}\n` }),
    )
  }
}

describe('testsets: which blobs were rows', () => {
  it('are those of every revision on the chains of heads and tags', async () => {
    const revisions = new Revisions()
    const first = await revisions.commit(['a', 'b'])
    const side = await revisions.commit(['side'], [first])
    const second = await revisions.commit(['b', 'c'], [first, side])
    const tagged = await revisions.commit(['tagged'])
    const history = new RowHistory(revisions)
    for (const text of ['a', 'b', 'c', 'tagged']) {
      expect(await history.holds(blob(text), [tagged, second]), text).to.equal(true)
    }
    for (const text of ['side', 'meta', 'columns', 'no such']) {
      expect(await history.holds(blob(text), [tagged, second]), text).to.equal(false)
    }
    expect(await history.holds(first, [tagged, second])).to.equal(false)
    expect(await history.holds(blob('side'), [side, tagged, second])).to.equal(true)
  })

  it('are only regular files with a row’s name below testcases', async () => {
    const revisions = new Revisions()
    const file = (name: string) => writeFile(revisions, name, Buffer.from(name))
    const inner = writeTree(revisions, [
      { ...file('05.json'), mode: '120000' },
      file('06.txt'),
      file('00.json'),
    ])
    const folders = [inner, writeTree(revisions, [file('07.json')])]
    const tip = await revisions.commit(
      [],
      [],
      [
        { mode: '40000', name: 'testcases', oid: folders[0]! },
        { mode: '40000', name: 'other', oid: folders[1]! },
        file('08.json'),
      ],
    )
    const history = new RowHistory(revisions)
    for (const name of ['05.json', '06.txt', '00.json', '07.json', '08.json']) {
      expect(await history.holds(blob(name), [tip]), name).to.equal(false)
    }
  })

  it('are found in the newest revision first, without a look twice', async () => {
    const revisions = new Revisions()
    const texts = Array.from({ length: 600 }, (_, index) => `row ${index}`)
    const first = await revisions.commit([...texts, 'old'])
    const second = await revisions.commit([...texts, 'new'], [first])
    const history = new RowHistory(revisions)
    revisions.forget()
    expect(await history.holds(blob('new'), [second])).to.equal(true)
    // two commits, then the newer one again with its tree and five folders
    expect(revisions.reads).to.have.lengthOf(2 + 2 + 5)
    revisions.forget()
    expect(await history.holds(blob('row 7'), [second])).to.equal(true)
    expect(revisions.reads).to.have.lengthOf(0)
    expect(await history.holds(blob('old'), [second])).to.equal(true)
    // the older one, its tree, and what the newer one has not: the folder on each level that leads to its last row
    expect(revisions.reads).to.have.lengthOf(2 + 3)
    revisions.forget()
    expect(await history.holds(blob('never'), [second])).to.equal(false)
    expect(revisions.reads).to.have.lengthOf(0)
    const third = await revisions.commit([...texts, 'newer'], [second])
    revisions.forget()
    expect(await history.holds(blob('newer'), [third])).to.equal(true)
    expect(revisions.reads).to.have.lengthOf(1 + 2 + 3)
  })

  it('are forgotten with a branch that was moved back or removed', async () => {
    const revisions = new Revisions()
    const first = await revisions.commit(['a'])
    const second = await revisions.commit(['b'], [first])
    const amended = await revisions.commit(['c'], [first])
    const history = new RowHistory(revisions)
    expect(await history.holds(blob('b'), [second])).to.equal(true)
    expect(await history.holds(blob('b'), [amended])).to.equal(false)
    expect(await history.holds(blob('c'), [amended])).to.equal(true)
    expect(await history.holds(blob('c'), [first])).to.equal(false)
    expect(await history.holds(blob('a'), [first])).to.equal(true)
    expect(await history.holds(blob('a'), [])).to.equal(false)
  })

  it('are found around damage, which is told of only where they might be, and looked at again', async () => {
    const revisions = new Revisions()
    const first = await revisions.commit(['a'])
    const second = await revisions.commit(['b'], [first])
    const third = await revisions.commit(['c'], [second])
    for (const part of ['commit', 'tree'] as const) {
      const history = new RowHistory(revisions)
      const lost =
        part === 'commit'
          ? second
          : (await editRows(
              revisions,
              undefined,
              new Map([['\0\0\x01', { oid: blob('b'), meta: blob('meta') }]]),
            ))!
      revisions.lost.add(lost)
      expect(await history.holds(blob('c'), [third]), part).to.equal(true)
      const refused = await history.holds(blob('b'), [third]).catch((error: unknown) => error)
      expect(refused, part).to.have.property('code', 'damaged_repository')
      if (part === 'tree') expect(await history.holds(blob('a'), [third])).to.equal(true)
      revisions.lost.clear()
      expect(await history.holds(blob('b'), [third]), part).to.equal(true)
      expect(await history.holds(blob('a'), [third]), part).to.equal(true)
      expect(await history.holds(blob('never'), [third]), part).to.equal(false)
    }
  })

  it('are found by questions that come while another is worked on', async () => {
    const revisions = new Revisions()
    const first = await revisions.commit(['a', 'b'])
    const second = await revisions.commit(['c'], [first])
    for (let reads = 0; reads < 12; reads++) {
      const history = new RowHistory(revisions)
      revisions.forget()
      const slow = history.holds(blob('never'), [second])
      // Step by step; now and then it gives a turn to others, on a busy machine above all.
      for (let step = 1; revisions.reads.length < reads; step++)
        await (step % 1000 === 0 ? setImmediate() : Promise.resolve())
      expect(await history.holds(blob('b'), [second]), `after ${reads} reads`).to.equal(true)
      expect(await slow).to.equal(false)
    }
  })

  it('are kept in a table that finds every id and no other, awkward ones included', () => {
    const table = new OidTable()
    const awkward = [
      '0'.repeat(40),
      'f'.repeat(40),
      `${'f'.repeat(8)}${'0'.repeat(32)}`,
      `${'0'.repeat(8)}${'f'.repeat(32)}`,
    ]
    const oids = [...awkward, ...Array.from({ length: 20_000 }, (_, index) => blob(`${index}`))]
    for (const oid of [...oids, ...oids]) table.add(Buffer.from(`ff${oid}`, 'hex'), 1)
    expect(oids.every((oid) => table.has(oid))).to.equal(true)
    for (let index = 0; index < 5000; index++) expect(table.has(blob(`not ${index}`))).to.equal(false)
  })
})
