import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { MadeTestset, TestsetClient } from './testset-client.ts'
import { contentsOf, dedupIdsOf, refusal, startTestsets } from './testset-client.ts'

describe('testsets: what git sees, and what git does', () => {
  let client: TestsetClient
  let folder: string
  before(async () => {
    client = await startTestsets()
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-clones-'))
  })
  after(async () => {
    await client.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Clones the repository, lets `work` change the files, commits, and pushes. */
  const byHand = (testset: MadeTestset, work: (clone: string) => void): void => {
    const clone = mkdtempSync(join(folder, 'clone-'))
    git(clone, ['clone', '--quiet', client.repository(testset.slug), '.'])
    work(clone)
    git(clone, ['add', '--all'])
    git(clone, ['commit', '--quiet', '-m', 'By hand'])
    git(clone, ['push', '--quiet', 'origin', 'HEAD'])
  }
  const write = (clone: string, path: string, text: string): void => {
    git(clone, [
      'update-index',
      '--add',
      '--cacheinfo',
      `100644,${git(clone, ['hash-object', '-w', '--stdin'], text)},${path}`,
    ])
    git(clone, ['checkout-index', '--force', '--', path])
  }
  const rowsIn = (text: string): string[] => text.split('\n').filter((line) => line !== '')

  // interface 1.13, 8.2
  it('git show <first 12 digits of a testcase id> prints the row, sorted, with its dedup id', async () => {
    const testset = await client.make([{ q: 'Naïve?', a: { y: 2, x: 1 }, testcase_dedup_id: 'one' }])
    const digits = testset.ids[0]?.replaceAll('-', '').slice(0, 12) ?? ''
    expect(git(client.repository(testset.slug), ['show', digits])).to.equal(
      '{"a":{"x":1,"y":2},"q":"Naïve?","testcase_dedup_id":"one"}',
    )
  })

  // interface 15.5
  it('the files are one a row, and the list of columns', async () => {
    const testset = await client.make([{ b: 1, a: 1 }, { c: 1 }])
    const repository = client.repository(testset.slug)
    expect(rowsIn(git(repository, ['ls-tree', '-r', '--name-only', 'HEAD']))).to.deep.equal([
      'columns.json',
      'testcases/00/00/01.json',
      'testcases/00/00/02.json',
    ])
    expect(JSON.parse(git(repository, ['show', 'HEAD:columns.json']))).to.deep.equal(['b', 'a', 'c'])
  })

  describe('git diff shows the rows that changed and no others', () => {
    const rows = Array.from({ length: 1000 }, (_, n) => ({ n: `${n}` }))
    const csvOf = (all: readonly { readonly n: string }[]): string =>
      `n\n${all.map(({ n }) => `${n}\n`).join('')}`
    let testset: MadeTestset
    let clone: string
    beforeEach(async () => {
      testset = await client.makeOf(csvOf(rows))
      clone = mkdtempSync(join(folder, 'diff-'))
    })

    /** Lines added and removed, and the name, of each file that the last commit changed. */
    const changedFiles = (): string[] => {
      git(clone, ['clone', '--quiet', client.repository(testset.slug), '.'])
      return rowsIn(git(clone, ['diff', '--no-renames', '--numstat', 'HEAD~1', 'HEAD'])).map((line) =>
        line.replaceAll('\t', ' '),
      )
    }

    it('an append', async () => {
      await client.change(testset, { rows: { add: [{ data: { n: 'new' } }] } })
      expect(changedFiles()).to.deep.equal(['1 0 testcases/00/03/ec.json'])
    })

    it('the removal of the first row', async () => {
      await client.change(testset, { rows: { remove: [testset.ids[0]] } })
      expect(changedFiles()).to.deep.equal(['0 1 testcases/00/00/01.json'])
    })

    it('an edit', async () => {
      await client.change(testset, { rows: { replace: [{ id: testset.ids[299], data: { n: 'edited' } }] } })
      expect(changedFiles()).to.deep.equal(['1 1 testcases/00/01/2d.json'])
    })

    it('an upload that inserts a row in the middle', async () => {
      const file = csvOf([...rows.slice(0, 500), { n: 'new' }, ...rows.slice(500)])
      const revision = await client.replaceBy(testset.revisionId, file)
      expect(contentsOf(revision)[500]).to.deep.equal({ n: 'new' })
      const files = changedFiles()
      expect(files).to.have.length(1)
      expect(files[0]).to.match(/^1 0 testcases\/00\/01\/f5\/[0-9a-f/]+\.json$/)
    })

    it('an upload that edits, drops and moves rows, known by their dedup ids', async () => {
      const lines = (await client.download(testset.revisionId)).split('\r\n')
      const [header, ...body] = lines
      const [edited, dropped, moved] = [body[10], body[20], body[30]]
      const others = body.filter((line) => line !== dropped && line !== moved)
      const file = [header, moved, ...others]
        .map((line) => (line === edited ? `x${line}` : line))
        .join('\r\n')
      await client.replaceBy(testset.revisionId, file)
      const files = changedFiles().map((line) => line.split(' ').slice(0, 2).join(' '))
      expect(files.toSorted()).to.deep.equal(['0 1', '0 1', '1 0', '1 1'])
    })

    it('the same rows again: none', async () => {
      await client.replaceBy(testset.revisionId, csvOf(rows))
      expect(changedFiles()).to.deep.equal([])
    })
  })

  it('git fsck --strict finds nothing, after uploads, deltas, gc and more of them', async () => {
    const testset = await client.makeOf('a\n1\n2\n')
    const repository = client.repository(testset.slug)
    for (let n = 0; n < 20; n++) await client.change(testset, { rows: { add: [{ data: { n } }] } })
    git(repository, ['gc', '--quiet', '--prune=now'])
    const revision = await client.replaceBy(testset.revisionId, 'a\n1\n3\n')
    expect(contentsOf(revision)).to.deep.equal([{ a: '1' }, { a: '3' }])
    expect(git(repository, ['fsck', '--strict', '--full', '--no-dangling'])).to.equal('')
    expect(git(repository, ['rev-list', '--count', 'HEAD'])).to.equal('22')
  })

  it('a row that was edited with git and pushed is read with an id of its own; the others keep theirs', async () => {
    const testset = await client.make([{ a: '1' }, { a: '2' }])
    byHand(testset, (clone) => write(clone, 'testcases/00/00/01.json', '{"a": "by hand",\n "b": 1}\n'))
    const revision = await client.latest(testset)
    expect([revision.version, contentsOf(revision)]).to.deep.equal([2, [{ a: 'by hand', b: 1 }, { a: '2' }]])
    const [id, second] = revision.data.testcase_ids
    expect(second).to.equal(testset.ids[1])
    expect(testset.ids).to.not.include(id)
    const { body } = await client.service.get(`/testcases/${id}`)
    expect(body.testcase.data).to.deep.equal({ a: 'by hand', b: 1 })
    const digits = id.replaceAll('-', '').slice(0, 12)
    expect(git(client.repository(testset.slug), ['show', digits])).to.include('by hand')
  })

  it('every file of it shows all that a row holds, and a delta works on it', async () => {
    const testset = await client.make([{ a: '1' }])
    byHand(testset, (clone) =>
      write(clone, 'testcases/00/00/01.json', '{"b":"2","testcase_dedup_id":"mine"}\n'),
    )
    const { id, data } = await client.latest(testset)
    expect(await client.download(id)).to.equal(
      `a,b,__id__,__dedup_id__\r\n,2,${data.testcase_ids[0]},mine\r\n`,
    )
    const changed = await client.change(testset, {
      rows: { replace: [{ id: data.testcase_ids[0], data: { c: '3' } }], add: [{ data: { a: '4' } }] },
    })
    expect(contentsOf(changed)).to.deep.equal([{ c: '3' }, { a: '4' }])
    expect(dedupIdsOf(changed)[0]).to.equal('mine')
  })

  it('a commit without columns.json still reads, and goes round as a file', async () => {
    const testset = await client.make([{ b: '1', a: '2' }])
    byHand(testset, (clone) => git(clone, ['rm', '--quiet', 'columns.json']))
    const revision = await client.latest(testset)
    expect(revision.data.testcase_ids).to.deep.equal(testset.ids)
    expect(Object.keys(revision.data.testcases[0].data)).to.deep.equal(['a', 'b', 'testcase_dedup_id'])
    const file = await client.download(revision.id)
    expect(file.split('\r\n')[0]).to.equal('a,b,__id__,__dedup_id__')
    const again = await client.replaceBy(revision.id, file)
    expect(again.data.testcase_ids).to.deep.equal(testset.ids)
    expect(git(client.repository(testset.slug), ['show', 'HEAD:columns.json'])).to.equal(
      '[\n  "a",\n  "b"\n]',
    )
  })

  it('a file that somebody pushed is carried over by the next commit', async () => {
    const testset = await client.make([{ a: '1' }])
    byHand(testset, (clone) => {
      write(clone, 'README.md', 'About these rows\n')
      write(clone, 'testcases/NOTES', 'About them too\n')
    })
    await client.change(testset, { rows: { add: [{ data: { a: '2' } }] } })
    await client.replaceBy(testset.revisionId, 'a\n5\n')
    const repository = client.repository(testset.slug)
    expect(git(repository, ['show', 'HEAD:README.md'])).to.equal('About these rows')
    expect(git(repository, ['show', 'HEAD:testcases/NOTES'])).to.equal('About them too')
  })

  it('a damaged row is refused by name where it is asked for, and nowhere else', async () => {
    const testset = await client.make([{ a: '1' }, { a: '2' }, { a: '3' }])
    byHand(testset, (clone) => write(clone, 'testcases/00/00/02.json', '{"a": broken\n'))
    const name = /^503 damaged_repository: .*testcases\/00\/00\/02\.json/
    const retrieve = (more: object) =>
      client.service.post('/testsets/revisions/retrieve', { testset_ref: { id: testset.id }, ...more })
    expect(refusal(await retrieve({}))).to.match(name)
    const { id, data } = (await retrieve({ include_testcases: false })).body.testset_revision
    expect([data.testcase_ids[0], data.testcase_ids[2]]).to.deep.equal([testset.ids[0], testset.ids[2]])
    expect((await retrieve({ windowing: { limit: 1, order: 'ascending' } })).status).to.equal(200)
    expect(refusal(await client.service.get(`/testcases/${data.testcase_ids[1]}`))).to.match(
      /^503 damaged_repository: .*\b[0-9a-f]{40}\b/,
    )
    expect((await client.service.get(`/testcases/${testset.ids[0]}`)).status).to.equal(200)
    expect((await client.service.get(`/testsets/revisions/${testset.revisionId}`)).status).to.equal(200)
    for (const type of ['csv', 'json', 'jsonl']) {
      const file = await client.service.get(`/testsets/revisions/${id}/download?file_type=${type}`)
      expect(refusal(file)).to.match(name)
    }
    // What takes the row out, or all of them, mends it.
    const removed = await client.change(testset, { rows: { remove: [data.testcase_ids[1]] } })
    expect(contentsOf(removed)).to.deep.equal([{ a: '1' }, { a: '3' }])
  })

  it('an upload over a damaged row replaces it', async () => {
    const testset = await client.makeOf('a\n1\n2\n')
    byHand(testset, (clone) => write(clone, 'testcases/00/00/02.json', 'nonsense'))
    const revision = await client.replaceBy(testset.revisionId, 'a\n1\n5\n')
    expect(contentsOf(revision)).to.deep.equal([{ a: '1' }, { a: '5' }])
  })
})
