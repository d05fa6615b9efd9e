import { expect } from 'chai'
import { type MadeTestset, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

describe('testsets: diff', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const diff = async (base: string, head: string, windowing?: object): Promise<any> => {
    const body = { base: { id: base }, head: { id: head }, windowing }
    const reply = await client.service.post('/testsets/revisions/diff', body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }

  const rowsOf = async (revisionId: string): Promise<any[]> =>
    (await client.service.get(`/testsets/revisions/${revisionId}`)).body.testset_revision.data.testcases

  /** Rows edited, removed and added, a column gone and one new. */
  const changed = async (): Promise<{ readonly testset: MadeTestset; readonly head: any }> => {
    const testset = await client.make([
      { a: 1, old: 'x', testcase_dedup_id: 'one' },
      { a: 2, testcase_dedup_id: 'two' },
      { a: 3, testcase_dedup_id: 'three' },
    ])
    const rows = [
      { a: 3, testcase_dedup_id: 'three' },
      { a: 'edited', new: 1, testcase_dedup_id: 'one' },
      { a: 4, testcase_dedup_id: 'four' },
    ]
    const data = { testcases: rows.map((row) => ({ data: row })) }
    const { body } = await client.commit({ testset_id: testset.id, data })
    return { testset, head: body.testset_revision }
  }

  // interface 8.24
  it('joins rows on their dedup ids, and names columns that came and went', async () => {
    const { testset, head } = await changed()
    const [one, two] = await rowsOf(testset.revisionId)
    const [, edited, four] = head.data.testcases
    expect(await diff(testset.revisionId, head.id)).to.deep.equal({
      count: 1,
      diff: {
        rows: { added: [four], removed: [two], changed: [{ dedup_id: 'one', base: one, head: edited }] },
        columns: { added: ['new'], removed: ['old'] },
      },
    })
  })

  it('is empty between equal revisions, and the other way round from head to base', async () => {
    const { testset, head } = await changed()
    const none = { rows: { added: [], removed: [], changed: [] }, columns: { added: [], removed: [] } }
    expect((await diff(head.id, head.id)).diff).to.deep.equal(none)
    const there = (await diff(testset.revisionId, head.id)).diff
    const back = (await diff(head.id, testset.revisionId)).diff
    expect(back.rows.added).to.deep.equal(there.rows.removed)
    expect(back.rows.removed).to.deep.equal(there.rows.added)
    expect(back.columns).to.deep.equal({ added: ['old'], removed: ['new'] })
  })

  it('rows that only moved are no difference, other flags, tags or meta are', async () => {
    const row = (q: string, tags?: object) => ({ data: { q }, tags })
    const testset = await client.make([], { data: { testcases: [row('a'), row('b', { v: '1' })] } })
    const data = { testcases: [row('b', { v: '2' }), row('a')] }
    const { body } = await client.commit({ testset_id: testset.id, data })
    const { rows } = (await diff(testset.revisionId, body.testset_revision.id)).diff
    expect([rows.added, rows.removed]).to.deep.equal([[], []])
    const tags = rows.changed.map(({ base, head }: any) => [base.tags, head.tags])
    expect(tags).to.deep.equal([[{ v: '1' }, { v: '2' }]])
  })

  it('an upload of the same rows with their dedup ids changes nothing', async () => {
    const testset = await client.makeOf('a,b\n1,2\n3,4\n')
    const head = await client.replaceBy(testset.revisionId, await client.download(testset.revisionId))
    const { rows } = (await diff(testset.revisionId, head.id)).diff
    expect(rows).to.deep.equal({ added: [], removed: [], changed: [] })
  })

  // interface 8.24
  it('pages hold every difference once; `next` is there exactly when some remain', async () => {
    const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ n: n + from }))
    const testset = await client.make(rows(0, 20))
    const edits = testset.ids.slice(10, 15).map((id, n) => ({ id, data: { n: `edited ${n}` } }))
    const head = await client.change(testset, {
      rows: { remove: testset.ids.slice(0, 5), replace: edits, add: rows(20, 25).map((data) => ({ data })) },
    })
    const whole = (await diff(testset.revisionId, head.id)).diff.rows
    const sum = { added: [] as unknown[], removed: [] as unknown[], changed: [] as unknown[] }
    let windowing: object | undefined = { limit: 4 }
    let pages = 0
    while (windowing) {
      const page = await diff(testset.revisionId, head.id, windowing)
      const { added, removed, changed } = page.diff.rows
      const count = added.length + removed.length + changed.length
      expect(count).to.equal(++pages < 4 ? 4 : 3)
      sum.added.push(...added)
      sum.removed.push(...removed)
      sum.changed.push(...changed)
      expect(page.windowing === undefined).to.equal(pages === 4)
      windowing = page.windowing
    }
    expect(sum).to.deep.equal(whole)
    const counted = await diff(testset.revisionId, head.id, { limit: 4, count_total: true })
    expect(counted.total).to.equal(15)
    expect(counted.windowing).to.include({ count_total: true })
    expect(await diff(testset.revisionId, head.id, { limit: 4 })).to.not.have.property('total')
    expect(await diff(testset.revisionId, head.id, { limit: 15 })).to.not.have.property('windowing')
    const bad = { base: { id: testset.revisionId }, head: { id: head.id }, windowing: { next: 'x' } }
    expect(refusal(await client.service.post('/testsets/revisions/diff', bad))).to.match(
      /^422 .*windowing\.next/,
    )
  })

  it('against a revision without rows everything is added or removed', async () => {
    const testset = await client.make([])
    const head = await client.change(testset, { rows: { add: [{ data: { a: 1 } }, { data: { a: 2 } }] } })
    expect((await diff(testset.revisionId, head.id)).diff.rows.added).to.deep.equal(head.data.testcases)
    expect((await diff(head.id, testset.revisionId)).diff.rows.removed).to.deep.equal(head.data.testcases)
  })
})
