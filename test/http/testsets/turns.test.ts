import { expect } from 'chai'
import { restsDuring } from '../../support/rests.ts'
import { type MadeTestset, startTestsets, type TestsetClient } from './testset-client.ts'

const ROWS = 4096

/** At the least so often must work on all rows ask whether others shall have a turn. */
const RESTS = ROWS / 256

describe('testsets: what takes long lets others have their turn', () => {
  let client: TestsetClient
  let testset: MadeTestset
  let ids: readonly string[]
  const post = async (path: string, body: unknown): Promise<any> => {
    const reply = await client.service.post(path, body)
    expect(reply.status, reply.text.slice(0, 300)).to.equal(200)
    return reply.body
  }
  const file = (to: string) => `n,t\n${Array.from({ length: ROWS }, (_, n) => `${n},${to} ${n}\n`).join('')}`
  const change = (delta: object) =>
    post('/testsets/revisions/commit', {
      testset_revision_commit: { testset_id: testset.id, delta },
      include_testcases: false,
      include_testcase_ids: false,
    })
  /** That this many rests came of it. */
  const rests = async (work: () => Promise<unknown>, least = RESTS): Promise<void> => {
    expect(await restsDuring(work)).to.be.at.least(least)
  }
  before(async () => {
    client = await startTestsets()
    testset = await client.makeOf(file('row'))
    ids = testset.ids
  })
  after(() => client.stop())

  it('a retrieve of all rows, of their ids, of a page', async () => {
    const retrieve = (more: object) =>
      post('/testsets/revisions/retrieve', { testset_ref: { id: testset.id }, ...more })
    await rests(async () => {
      const { data } = (await retrieve({})).testset_revision
      expect(data.testcases).to.have.length(ROWS)
    })
    await rests(() => retrieve({ include_testcases: false }))
    await rests(() => retrieve({ windowing: { limit: ROWS - 1, order: 'ascending' } }))
    const next = ids.at(-1)
    await rests(() => retrieve({ windowing: { limit: 1, order: 'ascending', next } }))
  })

  it('testcases of a testset, of a revision, of ids', async () => {
    for (const asked of [
      { testset_id: testset.id },
      { testset_ref: { id: testset.id } },
      { testcase_ids: ids },
    ]) {
      await rests(async () => {
        const { count, testcases } = await post('/testcases/query', asked)
        expect(count).to.equal(ROWS)
        expect(testcases.map(({ id }: any) => id)).to.deep.equal(ids)
      })
    }
    // only its own rows are read for a page, but all are gone over
    await rests(() => post('/testcases/query', { testset_id: testset.id, windowing: { limit: 1 } }))
  })

  it('lists with rows', async () => {
    await rests(() => post('/simple/testsets/query', {}))
    await rests(() => post('/testsets/revisions/query', {}))
    await rests(() =>
      post('/testsets/revisions/log', { testset: { testset_id: testset.id }, include_data: true }),
    )
  })

  it('downloads', async () => {
    for (const type of ['csv', 'json', 'jsonl'])
      await rests(() => client.download(testset.revisionId, `file_type=${type}`), ROWS / 512)
  })

  it('an upload of one long cell, which no row ends for many stretches of the file', async () => {
    await rests(() => client.makeOf(`n\n"${'x'.repeat(512 * 1024)}"\n`), 64)
  })

  it('a change of columns, and what tells the revisions apart', async () => {
    let head = ''
    await rests(
      async () => (head = (await change({ columns: { replace: [['t', 'u']] } })).testset_revision.id),
      2 * RESTS,
    )
    await rests(async () => {
      const { diff } = await post('/testsets/revisions/diff', {
        base: { id: testset.revisionId },
        head: { id: head },
      })
      expect(diff.rows.changed).to.have.length(ROWS)
      expect(diff.columns).to.deep.equal({ added: ['u'], removed: ['t'] })
    }, 3 * RESTS)
  })

  it('rows replaced, removed and added', async () => {
    const made = await client.makeOf(file('other'))
    const half = ROWS / 2
    testset = made
    const replace = made.ids.slice(0, half).map((id, n) => ({ id, data: { n: `new ${n}` } }))
    await rests(() => change({ rows: { replace } }), half)
    await rests(() => change({ rows: { remove: made.ids.slice(half) } }), half)
    const add = Array.from({ length: half }, (_, n) => ({ data: { n } }))
    await rests(() => change({ rows: { add } }), half / 16)
    const rows = await client.contents(made)
    expect([rows.length, rows[0], rows.at(-1)]).to.deep.equal([ROWS, { n: 'new 0' }, { n: half - 1 }])
  })

  it('rows that are sent, or named', async () => {
    const made = await client.make([])
    const commit = (data: object) =>
      post('/testsets/revisions/commit', { testset_revision_commit: { testset_id: made.id, data } })
    const testcases = Array.from({ length: ROWS }, (_, n) => ({ data: { n } }))
    let named: readonly string[] = []
    await rests(async () => (named = (await commit({ testcases })).testset_revision.data.testcase_ids))
    await rests(() => commit({ testcase_ids: named.toReversed() }), ROWS)
    expect((await client.latest(made)).data.testcase_ids).to.deep.equal(named.toReversed())
  })
})
