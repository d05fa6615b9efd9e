import { expect } from 'chai'
import fc from 'fast-check'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATA_FORMATS, dataText } from '../../support/values/data-text.ts'
import { publicData } from '../../support/values/public-data.ts'
import { git } from '../../support/git/git-program.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { fromEntries } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { METADATA_COLUMNS } from '../../../src/registry/testsets/import/input-row.ts'
import { arbitraryJson } from '../../support/values/arbitrary-json.ts'
import type { TestsetClient } from './testset-client.ts'
import { contentsOf, dedupIdsOf, startTestsets } from './testset-client.ts'

const TYPES = ['csv', 'json', 'jsonl'] as const

const EMPTY = { allow_empty: 'true' }

/** Names of columns: every kind of key but those that files keep for themselves. */
const column = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('__proto__', 'constructor', '0', '10', '01', 'a,b', 'a"b', 'a\nb', ' ', 'testcase_id'),
  )
  .filter((name) => name !== '' && name.isWellFormed() && !METADATA.includes(name))
const METADATA: readonly string[] = [...METADATA_COLUMNS, 'testcase_dedup_id']

/** Rows of any JSON, with missing keys, in any order of keys, some of them equal. */
const anyRows: fc.Arbitrary<JsonObject[]> = fc
  .array(fc.array(fc.tuple(column, arbitraryJson), { maxLength: 4 }), { maxLength: 8 })
  .map((rows) => rows.map((members) => fromEntries(new Map(members))))

/** Rows of the same columns, all cells strings. */
const stringRows: fc.Arbitrary<JsonObject[]> = fc
  .uniqueArray(
    // Names in files lose what is not seen at their ends, and are composed.
    column.filter((name) => name === name.normalize('NFC') && !/^[\s\p{C}]|[\s\p{C}]$/u.test(name)),
    { minLength: 1, maxLength: 4 },
  )
  .chain((names) => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      fc.constantFrom(
        '',
        ' ',
        '"',
        ',',
        '\n',
        '\r\n',
        '\r',
        '=1+1',
        '007',
        '1.0',
        'true',
        '{"a":1}',
        '\ufeff',
      ),
    )
    return fc
      .array(fc.tuple(...names.map(() => cell)), { minLength: 1, maxLength: 8 })
      .map((rows) => rows.map((cells) => fromEntries(names.map((name, at) => [name, cells[at] ?? '']))))
  })

describe('testsets: files go round', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const ids = async (revisionId: string): Promise<string[]> =>
    (await client.service.get(`/testsets/revisions/${revisionId}?include_testcases=false`)).body
      .testset_revision.data.testcase_ids

  for (const type of TYPES) {
    // interface 8.19
    it(`upload(download(r)) gives the testcases of r in order: ${type}`, async () => {
      const empty = await client.make([])
      await fc.assert(
        fc.asyncProperty(type === 'csv' ? stringRows : anyRows, async (rows) => {
          const lines = rows.map((row) => `${stringifyJson(row)}\n`).join('')
          const first = await client.replaceBy(empty.revisionId, lines, { file_type: 'jsonl', ...EMPTY })
          const file = await client.download(first.id, `file_type=${type}`)
          await client.change(empty, { rows: { remove: first.data.testcase_ids } })
          const again = await client.replaceBy(empty.revisionId, file, { file_type: type, ...EMPTY })
          expect(again.data.testcase_ids).to.deep.equal(first.data.testcase_ids)
          expect(await client.download(again.id, `file_type=${type}`)).to.equal(file)
        }),
        { numRuns: 20 },
      )
    })

    it(`edited rows, chosen dedup ids and equal contents go round: ${type}`, async () => {
      const testset = await client.make([
        { a: 'x', testcase_dedup_id: 'one' },
        { a: 'x', testcase_dedup_id: 'two' },
        { a: 'y' },
      ])
      const edited = await client.change(testset, {
        rows: { replace: [{ id: testset.ids[2], data: { a: 'edited' } }], add: [{ data: { a: 'y' } }] },
      })
      const other = await client.makeOf(await client.download(edited.id, `file_type=${type}`), {
        file_type: type,
      })
      const there = await client.latest(other)
      expect(contentsOf(there)).to.deep.equal(contentsOf(edited))
      expect(dedupIdsOf(there)).to.deep.equal(dedupIdsOf(edited))
      const back = await client.replaceBy(edited.id, await client.download(there.id, `file_type=${type}`), {
        file_type: type,
      })
      expect(back.data.testcase_ids).to.deep.equal(edited.data.testcase_ids)
    })
  }

  it('rows nested as deep as a file may bring them are read, changed and go round', async () => {
    const row = `{"a":${'['.repeat(190)}1${']'.repeat(190)},"b":"x"}\n`
    const testset = await client.makeOf(row, { file_type: 'jsonl' })
    const renamed = await client.change(testset, { columns: { replace: [['b', 'c']] } })
    expect(contentsOf(renamed)[0]).to.have.all.keys('a', 'c')
    for (const type of ['json', 'jsonl'] as const) {
      const file = await client.download(renamed.id, `file_type=${type}`)
      const again = await client.replaceBy(renamed.id, file, { file_type: type })
      expect(again.data.testcase_ids).to.deep.equal(renamed.data.testcase_ids)
    }
    expect(await client.download(renamed.id, 'file_type=csv')).to.contain('['.repeat(190))
  })

  // interface 8.18
  it('with types=infer, CSV brings numbers, booleans, null and nested values back', async () => {
    const rows = [{ n: 1.5, big: 2 ** 60, yes: true, nothing: null, list: [1, { a: 'b' }], text: 'plain' }]
    const testset = await client.make(rows)
    const file = await client.download(testset.revisionId)
    const strings = await client.makeOf(file)
    expect((await client.contents(strings))[0]).to.include({ n: '1.5', yes: 'true', list: '[1,{"a":"b"}]' })
    const inferred = await client.makeOf(file, { types: 'infer' })
    expect(await client.contents(inferred)).to.deep.equal([{ ...rows[0], nothing: '' }])
  })

  it('cells that look like formulas are kept as they are; escape_formulas=true puts an apostrophe before them', async () => {
    const cells = ['=1+1', '+49 30', '-x', '@sum', '-1.5', 'a=b', '\tx']
    const testset = await client.make(cells.map((cell) => ({ cell })))
    const columnOf = (file: string): string[] =>
      file
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0] ?? '')
    expect(columnOf(await client.download(testset.revisionId))).to.deep.equal(cells)
    const escaped = await client.download(testset.revisionId, 'escape_formulas=true')
    expect(columnOf(escaped)).to.deep.equal(["'=1+1", "'+49 30", "'-x", "'@sum", '-1.5', 'a=b', "'\tx"])
    for (const type of ['json', 'jsonl']) {
      const query = `file_type=${type}`
      const file = await client.download(testset.revisionId, query)
      expect(await client.download(testset.revisionId, `${query}&escape_formulas=true`)).to.equal(file)
      expect(file).to.include('"=1+1"')
    }
  })

  // interface 8.28
  it('the simple download is the latest revision’s, by POST and GET, under a name of its own', async () => {
    const testset = await client.make([{ a: 'x' }])
    const body = await client.download(testset.revisionId, 'file_type=jsonl')
    for (const method of ['POST', 'GET']) {
      const path = `/simple/testsets/${testset.id}/download?file_type=jsonl`
      const reply = await client.service.call(method, path)
      expect([reply.status, reply.text]).to.deep.equal([200, body])
      expect(reply.headers.get('content-disposition')).to.equal(
        `attachment; filename="${testset.slug}.jsonl"`,
      )
    }
    const named = await client.service.post(`/testsets/revisions/${testset.revisionId}/download`, {
      file_type: 'json',
      file_name: 'rows',
    })
    expect(named.headers.get('content-disposition')).to.equal('attachment; filename="rows.json"')
    expect(
      (await client.service.get(`/simple/testsets/${testset.id}/download?file_type=xml`)).status,
    ).to.equal(422)
  })

  // interface 8.25
  it('no rows are a header, an empty array, or an empty file that has to be meant, and come back as none', async () => {
    const { revisionId } = await client.make([])
    expect(await client.download(revisionId)).to.equal('__dedup_id__\r\n')
    expect(await client.download(revisionId, 'file_type=json')).to.equal('[]')
    expect(await client.download(revisionId, 'file_type=jsonl')).to.equal('')
    for (const type of TYPES) {
      const file = await client.download(revisionId, `file_type=${type}`)
      const sent = { file_type: type, ...(type === 'jsonl' && EMPTY) }
      expect((await client.makeOf(file, sent)).ids).to.deep.equal([])
    }
    const named = await client.makeOf('a,b\n')
    expect(await client.download(named.revisionId)).to.equal('a,b,__id__,__dedup_id__\r\n')
  })

  it('rows in the shape of public data sets come out of every format as they went in', async () => {
    for (const format of DATA_FORMATS) {
      const text = [...dataText(publicData(150, 7), format)].join('')
      const testset = await client.makeOf(text, { file_type: format })
      expect(testset.ids).to.have.length(150)
      for (const type of format === 'csv' ? TYPES : (['json', 'jsonl'] as const)) {
        const file = await client.download(testset.revisionId, `file_type=${type}`)
        const again = await client.replaceBy(testset.revisionId, file, { file_type: type })
        expect(again.data.testcase_ids, `${format} ${type}`).to.deep.equal(testset.ids)
      }
    }
  })

  it('csv, store, a mirror clone in a new store, jsonl: every id and row is the same', async () => {
    const text = [...dataText(publicData(300, 3), 'csv')].join('')
    const testset = await client.makeOf(text)
    const jsonl = await client.download(testset.revisionId, 'file_type=jsonl')
    const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-mirror-'))
    const mirror = join(storeDir, `${testset.slug}.git`)
    git(storeDir, ['clone', '--quiet', '--mirror', client.repository(testset.slug), mirror])
    const first = await startTestsets({ storeDir })
    await first.service.stop({ keepStore: true })
    cpSync(mirror, first.repository(testset.slug), { recursive: true })
    rmSync(mirror, { recursive: true })
    const second = await startTestsets({ storeDir })
    expect(await ids(testset.revisionId)).to.deep.equal(testset.ids)
    expect(await second.download(testset.revisionId, 'file_type=jsonl')).to.equal(jsonl)
    expect(readdirSync(join(storeDir, 'default', 'testsets'))).to.deep.equal([`${testset.slug}.git`])
    await second.stop()
  })
})
