import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { TestsetClient } from './testset-client.ts'
import { contentsOf, startTestsets } from './testset-client.ts'

describe('testsets: many writers at once', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  it('30 deltas that add rows to the same base make 30 revisions, with all rows', async () => {
    const testset = await client.make([{ n: 'first' }])
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        client.commit({
          testset_id: testset.id,
          testset_revision_id: testset.revisionId,
          delta: { rows: { add: [{ data: { n } }, { data: { n: 'shared' } }] } },
        }),
      ),
    )
    const versions = replies.map(({ body }) => body.testset_revision?.version).sort((a, b) => a - b)
    expect(versions).to.deep.equal(Array.from({ length: 30 }, (_, n) => n + 2))
    const rows = await client.contents(testset)
    expect(rows).to.have.length(32)
    expect(rows.map(({ n }: any) => n)).to.have.members([
      ...Array.from({ length: 30 }, (_, n) => n),
      ...['first', 'shared'],
    ])
    const repository = client.repository(testset.slug)
    expect(git(repository, ['rev-list', '--count', '--first-parent', 'HEAD'])).to.equal('31')
    expect(git(repository, ['fsck', '--strict', '--full', '--no-dangling'])).to.equal('')
  })

  it('of 10 that edit the same base one wins, the others are 409', async () => {
    const testset = await client.make([{ n: 'first' }])
    const [id] = testset.ids
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        client.commit({
          testset_id: testset.id,
          testset_revision_id: testset.revisionId,
          delta: { rows: { replace: [{ id, data: { n } }] } },
        }),
      ),
    )
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).to.deep.equal([200, ...Array.from({ length: 9 }, () => 409)])
    expect((await client.latest(testset)).version).to.equal(2)
  })

  it('of 10 that add the same dedup id one wins, the others are 422', async () => {
    const testset = await client.make([])
    const add = (n: number) => ({ rows: { add: [{ data: { n, testcase_dedup_id: 'mine' } }] } })
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => client.commit({ testset_id: testset.id, delta: add(n) })),
    )
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([
      200,
      ...Array.from({ length: 9 }, () => 422),
    ])
  })

  it('an upload that races with commits loses no revision, and each is what it says', async () => {
    const testset = await client.make([{ n: '-1' }])
    const file = `n\n${Array.from({ length: 2000 }, (_, n) => `${n}\n`).join('')}`
    const uploads = [0, 1].map(() => client.replaceBy(testset.revisionId, file))
    const added = Array.from({ length: 10 }, (_, n) =>
      client.change(testset, { rows: { add: [{ data: { added: n } }] } }),
    )
    const revisions = await Promise.all([...uploads, ...added])
    const versions = revisions.map(({ version }) => version).sort((a, b) => a - b)
    expect(versions).to.deep.equal(Array.from({ length: 12 }, (_, n) => n + 2))
    for (const upload of revisions.slice(0, 2)) expect(contentsOf(upload)).to.have.length(2000)
    for (const [n, revision] of revisions.slice(2).entries())
      expect(contentsOf(revision)).to.deep.include({ added: n })
    // Every revision after the later upload begins with its rows.
    const byVersion = revisions.sort((a, b) => a.version - b.version)
    let rows = ['-1']
    for (const { id } of byVersion) {
      const { body } = await client.service.get(`/testsets/revisions/${id}`)
      const now = contentsOf(body.testset_revision).map((row: any) => row.n ?? `added ${row.added}`)
      const isUpload = now.length === 2000
      expect(isUpload || now.slice(0, -1).join() === rows.join(), `${id}`).to.equal(true)
      rows = now
    }
    const repository = client.repository(testset.slug)
    expect(git(repository, ['fsck', '--strict', '--full', '--no-dangling'])).to.equal('')
  })

  it('uploads at once each lay their rows over those of the one before', async () => {
    const rowsOf = (from: number) => Array.from({ length: 600 }, (_, n) => `${from + n}`)
    const fileOf = (rows: readonly string[]) => `n,t\n${rows.map((n) => `${n},row ${n}\n`).join('')}`
    const testset = await client.makeOf(fileOf(rowsOf(0)))
    const froms = [100, 200, 300, 400, 500, 600]
    const revisions = await Promise.all(
      froms.map((from) => client.replaceBy(testset.revisionId, fileOf(rowsOf(from)))),
    )
    for (const [index, from] of froms.entries())
      expect(contentsOf(revisions[index]).map((row: any) => row.n)).to.deep.equal(rowsOf(from))
    const repository = client.repository(testset.slug)
    expect(git(repository, ['rev-list', '--count', '--first-parent', 'HEAD'])).to.equal('7')
    expect(git(repository, ['fsck', '--strict', '--full', '--no-dangling'])).to.equal('')
  })

  it('creations of one slug at once make one testset, and leave nothing of the others', async () => {
    const create = () =>
      client.send('/simple/testsets/upload', 'a\n1\n', { fields: { testset_slug: 'wanted-by-all' } })
    const replies = await Promise.all(Array.from({ length: 6 }, create))
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409, 409])
  })
})
