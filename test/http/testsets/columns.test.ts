import { expect } from 'chai'
import { startTestsets, type TestsetClient } from './testset-client.ts'

describe('testsets: columns, and what belongs to a row', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  // interface 8.7
  it('top-level keys come back in order of first appearance, nested ones sorted', async () => {
    const lines = [
      '{"z":1,"10":"x","a":{"d":1,"c":{"2":0,"1":0}}}',
      '{"a":2,"__proto__":{"y":1,"x":2},"z":3}',
      '{"2":"later","z":4}',
    ]
    const testset = await client.makeOf(lines.join('\n'), { file_type: 'jsonl' })
    const { text } = await client.service.get(`/testsets/revisions/${testset.revisionId}`)
    const data = [...text.matchAll(/"data":(\{"(?:z|2)".*?),"testcase_dedup_id"/g)].map(([, it]) => it)
    expect(data).to.deep.equal([
      '{"z":1,"10":"x","a":{"c":{"1":0,"2":0},"d":1}',
      '{"z":3,"a":2,"__proto__":{"x":2,"y":1}',
      '{"z":4,"2":"later"',
    ])
  })

  // interface 8.1
  it('a new revision begins the order anew, a delta appends to it', async () => {
    const testset = await client.make([{ b: 1, a: 1 }])
    const added = await client.change(testset, { rows: { add: [{ data: { c: 1, a: 2, b: 2 } }] } })
    expect(Object.keys(added.data.testcases[1].data)).to.deep.equal(['b', 'a', 'c', 'testcase_dedup_id'])
    const replaced = await client.replaceBy(added.id, '[{"a":3,"b":3}]', { file_type: 'json' })
    expect(Object.keys(replaced.data.testcases[0].data)).to.deep.equal(['a', 'b', 'testcase_dedup_id'])
  })

  // interface 8.8
  it('flags, tags and meta are shown with a row of a revision, and never by /testcases', async () => {
    const flags = { checked: true }
    const tags = { lang: 'en' }
    const meta = { source: { page: 7 } }
    const row = { data: { q: '?' }, flags, tags, meta }
    const testset = await client.make([], { data: { testcases: [row, { data: { q: '!' } }] } })
    const revision = await client.latest(testset)
    expect(revision.data.testcases[0]).to.deep.include({ flags, tags, meta, testset_id: testset.id })
    expect(revision.data.testcases[1]).to.have.all.keys('id', 'testset_id', 'data')
    const alone = await client.service.get(`/testcases/${testset.ids[0]}`)
    expect(alone.body.testcase).to.have.all.keys('id', 'testset_id', 'set_id', 'data')
    for (const query of [{ testset_ref: { id: testset.id } }, { testset_id: testset.id }]) {
      const { body } = await client.service.post('/testcases/query', query)
      expect(body.testcases[0]).to.have.all.keys('id', 'testset_id', 'set_id', 'data')
    }
  })

  it('they are the revision’s: the same testcase has others in the next one, and its id does not change', async () => {
    const testset = await client.make([], { data: { testcases: [{ data: { q: '?' }, tags: { v: '1' } }] } })
    const second = await client.commit({
      testset_id: testset.id,
      data: { testcases: [{ data: { q: '?' }, tags: { v: '2' } }] },
    })
    const [row] = second.body.testset_revision.data.testcases
    expect(row).to.deep.include({ id: testset.ids[0], tags: { v: '2' } })
    const { body } = await client.service.get(`/testsets/revisions/${testset.revisionId}`)
    expect(body.testset_revision.data.testcases[0].tags).to.deep.equal({ v: '1' })
  })

  it('a delta keeps them with rows it edits, unless it brings others', async () => {
    const rows = ['a', 'b', 'c'].map((q) => ({ data: { q }, tags: { of: q } }))
    const testset = await client.make([], { data: { testcases: rows } })
    const [a, b] = testset.ids
    const revision = await client.change(testset, {
      columns: { add: ['n'] },
      rows: {
        replace: [
          { id: a, data: { q: 'A' } },
          { id: b, data: { q: 'B' }, tags: { of: 'B' } },
        ],
      },
    })
    const tags = revision.data.testcases.map((row: any) => row.tags)
    expect(tags).to.deep.equal([{ of: 'a' }, { of: 'B' }, { of: 'c' }])
  })

  // interface 8.18
  it('in files they are __flags__, __tags__ and __meta__: JSON text in a CSV cell, empty is absent (5.5)', async () => {
    const file = 'q,__tags__,__meta__,__flags__\n?,"{""lang"":""en""}",,\n!,,"{""n"":1.50}","{""ok"":true}"\n'
    const testset = await client.makeOf(file)
    const { testcases } = (await client.latest(testset)).data
    expect(testcases[0])
      .to.deep.include({ tags: { lang: 'en' } })
      .and.not.have.any.keys('meta', 'flags')
    expect(testcases[1])
      .to.deep.include({ flags: { ok: true } })
      .and.not.have.any.keys('tags')
    const text = await client.download(testset.revisionId)
    const [one, two] = testset.ids
    const [first, second] = testcases.map((row: any) => row.data.testcase_dedup_id)
    expect(text.split('\r\n')).to.deep.equal([
      'q,__id__,__dedup_id__,__flags__,__tags__,__meta__',
      `?,${one},${first},,"{""lang"":""en""}",`,
      `!,${two},${second},"{""ok"":true}",,"{""n"":1.50}"`,
      '',
    ])
    const again = await client.makeOf(text)
    expect((await client.latest(again)).data.testcases.map((row: any) => row.tags)).to.deep.equal([
      { lang: 'en' },
      undefined,
    ])
  })

  // interface 8.19
  it('columns of metadata that no row fills are not exported', async () => {
    const testset = await client.makeOf('q,__tags__,__meta__\n?,,\n')
    expect((await client.download(testset.revisionId)).split('\r\n')[0]).to.equal('q,__id__,__dedup_id__')
  })
})
