import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { contentsOf, dedupIdsOf, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

/** The dedup id that a row of this content gets which brings none; `text` is its canonical JSON. */
const generated = (text: string): string => createHash('sha1').update(text).digest('hex').slice(0, 12)

describe('testsets: which rows are one', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  /** The same rows through every door that takes a whole list of them. */
  const everyDoor = async (rows: readonly object[]): Promise<any[]> => {
    const empty = await client.make([])
    const testcases = rows.map((data) => ({ data }))
    await client.service.put(`/simple/testsets/${empty.id}`, {
      testset: { id: empty.id, data: { testcases } },
    })
    const committed = await client.commit({ testset_id: empty.id, data: { testcases } })
    const put = await client.latest(await client.make(rows))
    const json = await client.latest(await client.makeOf(JSON.stringify(rows), { file_type: 'json' }))
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    const replaced = await client.replaceBy(empty.revisionId, lines, { file_type: 'jsonl' })
    const added = await client.change(await client.make([]), { rows: { add: testcases } })
    return [committed.body.testset_revision, put, json, replaced, added]
  }

  // interface 8.3
  it('equal content is one row, the first, whatever the order of the keys', async () => {
    for (const revision of await everyDoor([
      { a: '1', b: { x: 1, y: 2 } },
      { a: '2' },
      { b: { y: 2, x: 1 }, a: '1' },
      { a: '2' },
    ])) {
      expect(contentsOf(revision)).to.deep.equal([{ a: '1', b: { x: 1, y: 2 } }, { a: '2' }])
      expect(revision.data.testcase_ids).to.have.length(2)
    }
  })

  it('a number written in another way is another content, a key that is null is not a missing one', async () => {
    const rows = '{"n":1}\n{"n":1.0}\n{"n":"1"}\n{"n":1,"m":null}\n{"n":1e400}\n'
    const { ids } = await client.makeOf(rows, { file_type: 'jsonl' })
    expect(ids).to.have.length(5)
  })

  it('a row without a dedup id collapses onto an equal one that brings one, before it or behind it', async () => {
    for (const revision of await everyDoor([
      { a: '1' },
      { a: '2', testcase_dedup_id: 'two' },
      { a: '2' },
      { a: '3' },
      { a: '1', testcase_dedup_id: 'one' },
    ])) {
      expect(contentsOf(revision)).to.deep.equal([{ a: '1' }, { a: '2' }, { a: '3' }])
      expect(dedupIdsOf(revision)).to.deep.equal(['one', 'two', generated('{"a":"3"}')])
    }
  })

  // interface 8.3
  it('two rows of equal content with different dedup ids are two rows', async () => {
    for (const revision of await everyDoor([
      { a: '1', testcase_dedup_id: 'x' },
      { a: '1', testcase_dedup_id: 'y' },
      { a: '1' },
    ])) {
      expect(dedupIdsOf(revision)).to.deep.equal(['x', 'y'])
      expect(new Set(revision.data.testcase_ids).size).to.equal(2)
    }
  })

  // interface 8.5
  it('a dedup id is generated from the content hash, and is there in every stored row', async () => {
    const { data } = await client.latest(await client.make([{ b: 1, a: 'é' }, {}]))
    expect(data.testcases.map((testcase: any) => testcase.data)).to.deep.equal([
      { b: 1, a: 'é', testcase_dedup_id: generated('{"a":"é","b":1}') },
      { testcase_dedup_id: generated('{}') },
    ])
  })

  it('-2 is put behind a generated dedup id that an edited row still holds, and then -3', async () => {
    const testset = await client.make([{ a: '1' }])
    const id = generated('{"a":"1"}')
    await client.change(testset, { rows: { replace: [{ id: testset.ids[0], data: { a: 'edited' } }] } })
    const second = await client.change(testset, { rows: { add: [{ data: { a: '1' } }] } })
    expect(dedupIdsOf(second)).to.deep.equal([id, `${id}-2`])
    const again = second.data.testcase_ids[1]
    await client.change(testset, { rows: { replace: [{ id: again, data: { a: 'too' } }] } })
    const third = await client.change(testset, { rows: { add: [{ data: { a: '1' } }] } })
    expect(dedupIdsOf(third)).to.deep.equal([id, `${id}-2`, `${id}-3`])
    expect(contentsOf(third)).to.deep.equal([{ a: 'edited' }, { a: 'too' }, { a: '1' }])
  })

  it('a generated dedup id gives way to the same one that a later row of the file brings', async () => {
    const id = generated('{"a":"1"}')
    const { data } = await client.latest(
      await client.make([{ a: '1' }, { a: 'other', testcase_dedup_id: id }]),
    )
    expect(dedupIdsOf({ data })).to.deep.equal([`${id}-2`, id])
  })

  // interface 8.6
  it('twice in one file, the later row of a dedup id wins, at the place of the earlier', async () => {
    const testset = await client.makeOf('k,testcase_dedup_id\n1,x\n2,y\n3,x\n4,z\n')
    const revision = await client.latest(testset)
    expect(contentsOf(revision)).to.deep.equal([{ k: '3' }, { k: '2' }, { k: '4' }])
    expect(dedupIdsOf(revision)).to.deep.equal(['x', 'y', 'z'])
  })

  it('a row that collapsed is still there when the one it collapsed onto turns out to be another', async () => {
    const rows = [{ a: '1', __dedup_id__: 'x' }, { a: '1' }, { a: '2', __dedup_id__: 'x' }]
    const testset = await client.makeOf(JSON.stringify(rows), { file_type: 'json' })
    expect(await client.contents(testset)).to.deep.equal([{ a: '2' }, { a: '1' }])
  })

  it('collapses onto a row whose equal neighbour was replaced later in the file', async () => {
    const rows = [
      { a: '1', __dedup_id__: 'x' },
      { a: '1', __dedup_id__: 'y' },
      { a: '2', __dedup_id__: 'y' },
      { a: '1' },
    ]
    const revision = await client.latest(await client.make(rows))
    expect(dedupIdsOf(revision)).to.deep.equal(['x', 'y'])
  })

  // interface 8.5, 8.28
  it('__dedup_id__ comes in as testcase_dedup_id, and goes out of files as __dedup_id__', async () => {
    for (const key of ['__dedup_id__', 'testcase_dedup_id']) {
      const testset = await client.makeOf(`${key},q\nmine,?\n`)
      const revision = await client.latest(testset)
      expect(revision.data.testcases[0].data).to.deep.equal({ q: '?', testcase_dedup_id: 'mine' })
      const [id] = testset.ids
      expect(await client.download(revision.id)).to.equal(`q,__id__,__dedup_id__\r\n?,${id},mine\r\n`)
      expect(JSON.parse(await client.download(revision.id, 'file_type=json'))).to.deep.equal([
        { q: '?', __id__: id, __dedup_id__: 'mine' },
      ])
    }
  })

  it('an empty dedup id is none; two that differ, or one that is no string, are refused by name', async () => {
    const { data } = await client.latest(
      await client.make([
        { a: '1', __dedup_id__: '' },
        { a: '2', __dedup_id__: null },
      ]),
    )
    expect(dedupIdsOf({ data })).to.deep.equal([generated('{"a":"1"}'), generated('{"a":"2"}')])
    const testset = await client.make([])
    const refuse = async (row: object) =>
      refusal(await client.commit({ testset_id: testset.id, data: { testcases: [{ data: row }] } }))
    expect(await refuse({ __dedup_id__: 'x', testcase_dedup_id: 'y' })).to.match(
      /^422 .*__dedup_id__ says "x".*testcase_dedup_id says "y"/,
    )
    expect(await refuse({ testcase_dedup_id: 5 })).to.match(/^422 .*testcases\.0\.data\.testcase_dedup_id/)
    const file = await client.send('/simple/testsets/upload', '{"a":1}\n{"__dedup_id__":5}\n', {
      fields: { file_type: 'jsonl' },
    })
    expect(refusal(file)).to.match(/^422 invalid_file: Line 2, column 1: .*__dedup_id__/)
  })

  // interface 8.6
  it('rows.add with a dedup id that a row holds, or twice in one delta, is refused and stores nothing', async () => {
    const testset = await client.make([{ a: '1', testcase_dedup_id: 'x' }])
    const add = (rows: object[]) => client.commit({ testset_id: testset.id, delta: { rows: { add: rows } } })
    const refused = await add([{ data: { a: '2' } }, { data: { a: '3', testcase_dedup_id: 'x' } }])
    expect(refusal(refused)).to.match(/^422 invalid_request: .*rows\.add\.1\.data\.testcase_dedup_id.*"x"/)
    const twice = { data: { a: '4', __dedup_id__: 'new' } }
    expect((await add([twice, { data: { a: '5', __dedup_id__: 'new' } }])).status).to.equal(422)
    expect((await client.latest(testset)).id).to.equal(testset.revisionId)
  })

  // interface 8.9
  it('__id__ of a testcase of this testset says "this row": the same content keeps its id', async () => {
    const testset = await client.make([{ a: '1' }, { a: '2' }])
    const [one, two] = testset.ids
    const revision = await client.replaceBy(testset.revisionId, `a,__id__\n2,${two}\n1,${one}\n`)
    expect(revision.data.testcase_ids).to.deep.equal([two, one])
  })

  // interface 8.9
  it('__id__ with another content is an edit that keeps the dedup id', async () => {
    const testset = await client.make([{ a: '1' }, { a: '2', testcase_dedup_id: 'two' }])
    const [one, two] = testset.ids
    const revision = await client.replaceBy(
      testset.revisionId,
      `a,__id__\nx,${one}\ny,${two!.toUpperCase()}\n`,
    )
    expect(contentsOf(revision)).to.deep.equal([{ a: 'x' }, { a: 'y' }])
    expect(dedupIdsOf(revision)).to.deep.equal([generated('{"a":"1"}'), 'two'])
    const put = await client.service.put(`/simple/testsets/${testset.id}`, {
      testset: {
        id: testset.id,
        data: { testcases: [{ data: { a: 'z', __id__: revision.data.testcase_ids[1] } }] },
      },
    })
    expect(dedupIdsOf(put.body.testset)).to.deep.equal(['two'])
  })

  // interface 8.9
  it('any other __id__ is ignored: of another testset, unknown, or no id at all', async () => {
    const other = await client.make([{ a: '1', testcase_dedup_id: 'theirs' }])
    const testset = await client.make([{ a: '0' }])
    const unknown = '0190a000-0000-8000-8000-000000000001'
    const file = `a,__id__\n1,${other.ids[0]}\n2,${unknown}\n3,nonsense\n4,\n`
    const revision = await client.replaceBy(testset.revisionId, file)
    expect(contentsOf(revision)).to.deep.equal([{ a: '1' }, { a: '2' }, { a: '3' }, { a: '4' }])
    expect(dedupIdsOf(revision)[0]).to.equal(generated('{"a":"1"}'))
  })
})
