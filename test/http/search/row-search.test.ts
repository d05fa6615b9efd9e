import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { IN_MEMORY } from '../../../src/storage/sqlite/database-file.ts'
import { openIndexFileAside } from '../../../src/registry/index/database/index-file.ts'
import type { MadeTestset, TestsetClient } from '../testsets/testset-client.ts'
import { startTestsets } from '../testsets/testset-client.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const SEARCHED = { flags: { search: true } }

describe('POST /search: rows of testsets that opt in', () => {
  let client: TestsetClient
  beforeEach(async () => {
    client = await startTestsets()
  })
  afterEach(() => client.stop())

  const search = async (query: string, options: object = {}) => {
    const { status, text, body } = await client.service.post('/search', { query, ...options })
    expect(status, text).to.equal(200)
    return body.hits
  }
  const columns = async (query: string, options: object = {}): Promise<string[]> =>
    (await search(query, options)).map((hit: any) => `${hit.place.row}.${hit.place.column}`)
  const post = async (path: string, body: object) => {
    const answer = await client.service.post(path, body)
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  const edit = async ({ id }: MadeTestset, fields: object) => {
    const answer = await client.service.put(`/testsets/${id}`, { testset: { id, ...fields } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body.testset
  }
  const fork = async ({ slug }: MadeTestset, name: string) =>
    (
      await post('/testsets/variants/fork', {
        testset_variant: { slug: name },
        testset_variant_ref: { slug },
      })
    ).testset_variant
  const commit = async (fields: object): Promise<void> => {
    const { status, text } = await client.commit(fields)
    expect(status, text).to.equal(200)
  }
  /** What plain git did is seen within two seconds. */
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 60_000; !(await holds());) expect(Date.now()).to.be.lessThan(deadline)
  }
  /** What the index has of rows, once it has nothing left to do. */
  const indexed = async (): Promise<Readonly<Record<string, number>>> => {
    const file = openIndexFileAside(join(client.service.storeDir, 'default/index.db'))
    try {
      const count = (table: string) =>
        file.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0
      return Object.fromEntries(
        ['rows', 'row_words', 'variant_rows', 'row_heads'].map((table) => [table, count(table)]),
      )
    } finally {
      file.close()
    }
  }
  const NONE = { rows: 0, row_words: 0, variant_rows: 0, row_heads: 0 }

  it('finds a row with its place, its testset, variant and latest revision', async () => {
    const data = {
      country: 'Norway',
      notes: { geography: ['Fjords', 'A capital on a fjord'] },
      testcase_dedup_id: 'no',
    }
    const testset = await client.make([data, { country: 'Peru', testcase_dedup_id: 'pe' }], SEARCHED)
    const [hit, ...more] = await search('capital fjord')
    expect(more).to.deep.equal([])
    const { rank, variant, revision, artifact, ...rest } = hit
    expect(rest).to.deep.equal({
      kind: 'row',
      field: 'data',
      place: { row: 'no', column: 'notes' },
      excerpt: 'A capital on a fjord',
      ranges: [
        [2, 9],
        [15, 20],
      ],
    })
    expect(rank).to.be.greaterThan(0)
    expect([artifact.id, variant.slug, revision.id]).to.deep.equal([
      testset.id,
      testset.slug,
      testset.revisionId,
    ])
    expect(await columns('peru')).to.deep.equal(['pe.country'])
    expect(await search('no')).to.deep.equal([])
  })

  // interface 13.1
  it('finds phrases, prefixes and scripts without spaces, and leaves out what is excluded, row by row', async () => {
    const texts = {
      a: 'The answer is forty-two',
      b: 'Is the answer known?',
      c: '東京都の天気を教えてください',
      d: 'Ánswering machines',
    }
    const rows = Object.entries(texts).map(([id, q]) => ({ q, testcase_dedup_id: id }))
    await client.make(rows, SEARCHED)
    const found = async (query: string) => (await columns(query)).sort()
    expect(await found('"the answer is"')).to.deep.equal(['a.q'])
    expect(await found('answer')).to.deep.equal(['a.q', 'b.q'])
    expect(await found('answer*')).to.deep.equal(['a.q', 'b.q', 'd.q'])
    expect(await found('answer* -forty')).to.deep.equal(['b.q', 'd.q'])
    expect(await found('天気')).to.deep.equal(['c.q'])
    expect(await found('気天')).to.deep.equal([])
  })

  // interface 13.3
  it('looks into no rows of a testset that has not opted in, and into none of one that has opted out', async () => {
    const testset = await client.make([{ q: 'A shy word' }])
    expect(await search('shy')).to.deep.equal([])
    expect(await indexed()).to.deep.equal(NONE)
    expect(await edit(testset, SEARCHED)).to.deep.include(SEARCHED)
    expect(await search('shy')).to.have.length(1)
    expect(await indexed()).to.deep.equal({ rows: 1, row_words: 1, variant_rows: 1, row_heads: 1 })
    await edit(testset, { flags: { search: false } })
    expect(await search('shy')).to.deep.equal([])
    expect(await indexed()).to.deep.equal(NONE)
    const { status, body } = await client.service.put(`/testsets/${testset.id}`, {
      testset: { id: testset.id, flags: { search: 'yes' } },
    })
    expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
    expect(body.detail).to.include('"yes" is not true or false')
  })

  it('follows what is edited, added and removed', async () => {
    const testset = await client.make([{ q: 'first' }, { q: 'second' }], SEARCHED)
    expect(await search('first')).to.have.length(1)
    await client.change(testset, {
      rows: {
        add: [{ data: { q: 'third' } }],
        replace: [{ id: testset.ids[0], data: { q: 'another' } }],
        remove: [testset.ids[1]],
      },
    })
    const found = []
    for (const word of ['first', 'second', 'third', 'another']) found.push((await search(word)).length)
    expect(found).to.deep.equal([0, 0, 1, 1])
    expect(await indexed()).to.deep.equal({ rows: 2, row_words: 2, variant_rows: 2, row_heads: 1 })
    const [{ revision }] = await search('third')
    expect(revision.version).to.equal(2)
    // Only the latest rows are looked into.
    expect(await search('first', { include_history: true })).to.deep.equal([])
  })

  it('finds the rows of what is latest where a revision is archived by itself', async () => {
    const testset = await client.make([{ q: 'first' }], SEARCHED)
    await client.change(testset, { rows: { add: [{ data: { q: 'second' } }] } })
    const found = async (): Promise<number[]> => [
      (await search('first')).length,
      (await search('second')).length,
    ]
    expect(await found()).to.deep.equal([1, 1])
    await post(`/testsets/revisions/${testset.slug}-2/archive`, {})
    expect(await found()).to.deep.equal([1, 0])
    const [{ revision }] = await search('first')
    expect(revision.version).to.equal(1)
    await post(`/testsets/revisions/${testset.slug}-2/unarchive`, {})
    expect(await found()).to.deep.equal([1, 1])
  })

  it('finds a row of several variants once, in the default one, and in another where that is the only one', async () => {
    const testset = await client.make([{ q: 'shared' }], SEARCHED)
    await fork(testset, 'second')
    await commit({
      testset_variant_ref: { slug: 'second' },
      delta: { rows: { add: [{ data: { q: 'own' } }] } },
    })
    const variants = async (query: string) => (await search(query)).map((hit: any) => hit.variant.slug)
    expect(await variants('shared')).to.deep.equal([testset.slug])
    expect(await variants('own')).to.deep.equal(['second'])
    expect(await indexed()).to.deep.equal({ rows: 2, row_words: 2, variant_rows: 3, row_heads: 2 })
    await client.change(testset, { rows: { remove: testset.ids } })
    expect(await variants('shared')).to.deep.equal(['second'])
    git(client.repository(testset.slug), ['update-ref', '-d', 'refs/heads/second'])
    await until(async () => (await variants('own')).length === 0)
    expect(await variants('shared')).to.deep.equal([])
    expect(await indexed()).to.deep.equal({ rows: 0, row_words: 0, variant_rows: 0, row_heads: 1 })
  })

  it('shows rows of what is archived only where asked, and forgets what is removed', async () => {
    const testset = await client.make([{ q: 'dusty' }], SEARCHED)
    const variant = await fork(testset, 'side')
    await commit({
      testset_variant_ref: { slug: 'side' },
      delta: { rows: { add: [{ data: { q: 'aside' } }] } },
    })
    await post(`/testsets/variants/${variant.id}/archive`, {})
    expect(await columns('aside')).to.deep.equal([])
    expect(await columns('aside', { include_archived: true })).to.have.length(1)
    expect(await columns('dusty')).to.have.length(1)
    await post(`/testsets/${testset.id}/archive`, {})
    expect(await columns('dusty')).to.deep.equal([])
    expect(await columns('dusty', { include_archived: true })).to.have.length(1)
    const { status, text } = await client.service.call('DELETE', `/simple/testsets/${testset.id}`)
    expect(status, text).to.equal(200)
    expect(await columns('dusty', { include_archived: true })).to.deep.equal([])
    expect(await indexed()).to.deep.equal(NONE)
  })

  it('is narrowed by kind, and ranks and pages over all kinds together', async () => {
    const rows = Array.from({ length: 5 }, (_, n) => ({ q: `needle ${'hay '.repeat(n)}` }))
    const testset = await client.make(rows, { ...SEARCHED, name: 'Needle work' })
    const parameters = { prompt: { messages: [{ role: 'user', content: 'Find the needle' }] } }
    await post('/simple/applications/', { application: { slug: 'finder', data: { parameters } } })
    const kinds = async (options: object) =>
      (await search('needle', options)).map(({ kind }: { kind: string }) => kind).sort()
    expect(await kinds({ kinds: ['row'] })).to.deep.equal(Array(5).fill('row'))
    expect(await kinds({ kinds: ['testset'] })).to.deep.equal(['testset'])
    expect(await kinds({ kinds: ['application', 'row'] })).to.deep.equal([
      'application',
      ...Array(5).fill('row'),
    ])
    const all = await search('needle')
    expect(all).to.have.length(7)
    expect(all.map(({ rank }: any) => rank)).to.deep.equal(
      all.map(({ rank }: any) => rank).sort((a: number, b: number) => b - a),
    )
    const paged: unknown[] = []
    for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
      const { body } = await client.service.post('/search', {
        query: 'needle',
        windowing: { limit: 2, next },
      })
      paged.push(...body.hits)
      next = body.windowing?.next
    }
    expect(paged).to.deep.equal(all)
    const { status, body } = await client.service.post('/search', {
      query: 'nothing',
      windowing: { next: testset.ids[0] },
    })
    expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
    expect(body.detail).to.include('body.windowing.next')
  })

  it('finds testsets, variants and latest revisions by the text of their rows', async () => {
    const testset = await client.make([{ q: 'okapi' }], SEARCHED)
    await client.make([{ q: 'okapi' }])
    await fork(testset, 'other')
    await client.change(testset, { rows: { remove: testset.ids, add: [{ data: { q: 'zebra' } }] } })
    const slugs = async (path: string, key: string, text: string) =>
      (await post(path, { [key]: { text } }))[`${key}s`].map(({ slug }: { slug: string }) => slug)
    expect(await slugs('/testsets/query', 'testset', 'okapi')).to.deep.equal([testset.slug])
    expect(await slugs('/testsets/query', 'testset', 'okapi zebra')).to.deep.equal([])
    expect(await slugs('/simple/testsets/query', 'testset', 'zebra')).to.deep.equal([testset.slug])
    expect(await slugs('/testsets/variants/query', 'testset_variant', 'okapi')).to.deep.equal(['other'])
    expect(await slugs('/testsets/revisions/query', 'testset_revision', 'zebra')).to.deep.equal([
      `${testset.slug}-2`,
    ])
    const chosen = await post('/testsets/query', { testset: { flags: { search: true } } })
    expect(chosen.testsets.map(({ slug }: MadeTestset) => slug)).to.deep.equal([testset.slug])
  })

  it('sees the rows that plain git pushes, and by what name those are called that have none', async () => {
    const testset = await client.make([{ q: 'by REST' }], SEARCHED)
    const clone = mkdtempSync(join(tmpdir(), 'branchpoint-rows-'))
    try {
      git(clone, ['clone', '--quiet', client.repository(testset.slug), '.'])
      const oid = git(clone, ['hash-object', '-w', '--stdin'], '{"q":"pushed by hand"}\n')
      git(clone, ['update-index', '--add', '--cacheinfo', `100644,${oid},testcases/00/00/02.json`])
      const broken = git(clone, ['hash-object', '-w', '--stdin'], 'no pushed JSON\n')
      git(clone, ['update-index', '--add', '--cacheinfo', `100644,${broken},testcases/00/00/03.json`])
      git(clone, ['commit', '--quiet', '-m', 'By hand'])
      git(clone, ['push', '--quiet', 'origin', 'HEAD'])
      await until(async () => (await search('pushed')).length > 0)
      expect(await columns('pushed')).to.deep.equal([`${oid}.q`])
    } finally {
      rmSync(clone, { recursive: true, force: true })
    }
  })

  it('passes over what cannot be read, and goes on with the next revision that can', async () => {
    const testset = await client.make([{ q: 'sound' }], SEARCHED)
    await client.make([{ q: 'neighbour' }], SEARCHED)
    expect(await search('sound')).to.have.length(1)
    const gitdir = client.repository(testset.slug)
    const commitOf = (rows: string): string => {
      const columns = git(gitdir, ['rev-parse', `${testset.slug}:columns.json`])
      const root = `100644 blob ${columns}\tcolumns.json\n040000 tree ${rows}\ttestcases\n`
      const tree = git(gitdir, ['mktree', '--missing'], root)
      return git(gitdir, ['commit-tree', '-p', testset.slug, '-m', 'By hand', tree])
    }
    const folders = (tree: string): string =>
      Array.from({ length: 255 }, (_, n) => `040000 tree ${tree}\t${n.toString(16).padStart(2, '0')}\n`).join(
        '',
      )
    const missing = git(gitdir, ['mktree', '--missing'], `100644 blob ${'1'.repeat(40)}\t05.json\n`)
    // More rows than there are atoms: one folder over and over.
    let endless = git(gitdir, ['rev-parse', `${testset.slug}:testcases/00/00`])
    for (let depth = 0; depth < 10; depth++) endless = git(gitdir, ['mktree'], folders(endless))
    for (const rows of [missing, endless]) {
      git(gitdir, ['update-ref', `refs/heads/${testset.slug}`, commitOf(rows)])
      await until(async () => (await search('sound')).length === 0)
      expect(await search('neighbour')).to.have.length(1)
      expect(await indexed()).to.deep.equal({ rows: 1, row_words: 1, variant_rows: 1, row_heads: 2 })
    }
    const first = git(gitdir, ['rev-list', '--max-parents=0', testset.slug])
    const sound = git(gitdir, ['commit-tree', '-p', testset.slug, '-m', 'Sound again', `${first}^{tree}`])
    git(gitdir, ['update-ref', `refs/heads/${testset.slug}`, sound])
    await until(async () => (await search('sound')).length > 0)
  })

  it('brings more rows than fit into one piece up before it answers, and goes on where a restart stopped it', async () => {
    const rows = Array.from({ length: 1800 }, (_, n) => ({ n: `number${n}` }))
    const testset = await client.make(rows, SEARCHED)
    expect(await columns('number1799')).to.have.length(1)
    const { storeDir } = client.service
    await client.service.stop({ keepStore: true })
    // What is there is not written again: this word stays away.
    const file = openIndexFileAside(join(storeDir, 'default/index.db'))
    const [last] = file.rows<{ row: number }>('SELECT max(row) AS row FROM variant_rows')
    file.run('DELETE FROM row_words WHERE rowid = ?', last?.row ?? 0)
    file.close()
    client = await startTestsets({ storeDir })
    expect(await columns('number1799')).to.deep.equal([])
    expect(await columns('number1798')).to.have.length(1)
    await client.change(testset, { rows: { add: [{ data: { n: 'one more' } }] } })
    expect(await columns('more')).to.have.length(1)
  })

  it('are in the index that is made anew', async () => {
    await client.make([{ q: 'again' }], SEARCHED)
    const before = await search('again')
    const { storeDir } = client.service
    await client.service.stop({ keepStore: true })
    // One of an older server has other tables.
    const old = openIndexFileAside(join(storeDir, 'default/index.db'))
    old.run('DROP TABLE row_heads')
    old.run('PRAGMA user_version = 3')
    old.close()
    client = await startTestsets({ storeDir })
    expect(await search('again')).to.deep.equal(before)
  })

  it('are printed by the command', async () => {
    const testset = await client.make([{ q: 'printed row', testcase_dedup_id: 'one' }], SEARCHED)
    const env = { ...process.env, BRANCHPOINT_URL: client.service.url, BRANCHPOINT_KEY: ADMIN_KEY }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [PROGRAM, 'search', 'printed', '--kind', 'row'],
      { env },
    )
    expect(stdout).to.equal(
      `row ${testset.slug} ${testset.slug}-1 (version 1): data row one, column q\n    printed row\n`,
    )
  })
})

describe('POST /search: rows of a store in memory', () => {
  it('are found', async () => {
    const service = await startService({ env: { STORE_DIR: IN_MEMORY } })
    try {
      const data = { testcases: [{ data: { q: 'fleeting' } }] }
      await service.post('/simple/testsets/', { testset: { slug: 'memory', ...SEARCHED, data } })
      const { body } = await service.post('/search', { query: 'fleeting' })
      expect(body.hits.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['row'])
    } finally {
      await service.stop()
    }
  })
})
