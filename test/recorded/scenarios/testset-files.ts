import { gzipSync } from 'node:zlib'
import { xlsxFile } from '../../support/values/xlsx-file.ts'
import { type Scenario, type Step, get, post } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/** Files of rows into testsets and out of them, and rows by themselves. Left out: a file without a slug, whose testset has one by chance. */
export const testsetFileScenarios: readonly Scenario[] = [
  { name: 'testset-uploads', steps: uploads },
  { name: 'testset-downloads', steps: () => [...downloads(), ...rows()] },
]

const CSV = 'question,answer\nWhere?,Here\n"Why, then?",12\n'

interface More {
  readonly form?: Readonly<Record<string, string>>
  readonly name?: string
  readonly type?: string
  readonly key?: string
  readonly as?: string
}

function upload(title: string, path: string, content: string | Buffer | undefined, more: More = {}): Step {
  const { form = {}, name = 'rows.csv', type, key, as } = more
  const file = content === undefined ? {} : { file: { name, content, ...(type && { type }) } }
  return post(title, path, { form, ...file }, { ...(key && { key }), ...(as && { as }) })
}

function uploads(): Step[] {
  const at = '/simple/testsets/upload'
  const slug = (testset_slug: string, more: object = {}): { form: Record<string, string> } => ({
    form: { testset_slug, ...more },
  })
  const create = (title: string, content: string | Buffer | undefined, more: More = {}): Step =>
    upload(title, at, content, more)
  const again = (title: string, content: string | Buffer | undefined, more: More = {}): Step =>
    upload(title, '/simple/testsets/<rows>/upload', content, more)
  const onto = (title: string, content: string | Buffer | undefined, more: More = {}): Step =>
    upload(title, '/testsets/revisions/<rows revision>/upload', content, more)
  const sheet = xlsxFile({
    sheets: [
      [
        'First',
        '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><v>1.5</v></c></row>',
      ],
      [
        'Second',
        '<row r="1"><c r="A1" t="inlineStr"><is><t>b</t></is></c></row><row r="2"><c r="A2" t="b"><v>1</v></c></row>',
      ],
    ],
  })
  const xlsx = { name: 'rows.xlsx' }
  return [
    create('a CSV file', CSV, { ...slug('rows'), as: 'rows' }),
    create('a CSV file with all fields', CSV, {
      form: {
        testset_slug: 'rich',
        testset_name: 'Rich',
        testset_description: 'Says',
        testset_tags: '{"a":"one"}',
        testset_meta: '{"b":2}',
        message: 'Begin',
      },
    }),
    create('a slug that is taken', CSV, slug('rows')),
    create(
      'values that are inferred',
      'n,b,t\n1,true,x\n12345678901234567890,null,"[1]"\n',
      slug('inferred', { types: 'infer' }),
    ),
    create('values that are texts', 'n,b\n1,true\n', slug('texts', { types: 'string' })),
    create('types that are not known', CSV, slug('odd', { types: 'guess' })),
    create('cells between semicolons', 'a;b\n1;2\n', slug('semicolons', { delimiter: ';' })),
    create('cells between tabs', 'a\tb\n1\t2\n', { ...slug('tabs'), name: 'rows.tsv' }),
    create('a delimiter of two characters', CSV, slug('odd', { delimiter: ';;' })),
    create('a byte order mark and line ends of Windows', '\uFEFFa,b\r\n1,2\r\n', slug('windows')),
    create('rows of one dedup id', 'testcase_dedup_id,a\nx,1\nx,2\n', slug('deduped')),
    create(
      'rows of one dedup id in the column of downloads',
      '__dedup_id__,a\nx,1\nx,2\n',
      slug('deduped-2'),
    ),
    create('two rows that are the same', 'a\n1\n1\n', slug('same')),
    create('a column twice', 'a,a\n1,2\n', slug('odd')),
    create('a row with more cells than columns', 'a,b\n1,2,3\n', slug('odd')),
    create('a row with fewer cells than columns', 'a,b\n1\n', slug('short-row')),
    create('a quote that does not end', 'a\n"1\n', slug('odd')),
    create('bytes that are no UTF-8', Buffer.from([0x61, 0x0a, 0xff, 0x0a]), slug('odd')),
    create('a header alone', 'a,b\n', slug('header')),
    create('a header alone that is meant', 'a,b\n', slug('empty', { allow_empty: 'true' })),
    create('nothing at all', '', slug('odd')),
    create('no file', undefined, slug('odd')),
    create('allow_empty that is a word', CSV, slug('odd', { allow_empty: 'perhaps' })),
    create('a field that nobody reads', CSV, slug('odd', { nobody_reads: '1' })),
    create('tags that are no JSON', CSV, slug('odd', { testset_tags: '{' })),
    create('a slug that is none', CSV, slug('Not A Slug')),
    create('a JSON file', '[{"a":1.50,"b":null},{"a":12345678901234567890}]', {
      ...slug('json'),
      name: 'rows.json',
    }),
    create('a JSON file that is no list', '{"a":1}', { ...slug('odd'), name: 'rows.json' }),
    create('a JSON file of numbers', '[1]', { ...slug('odd'), name: 'rows.json' }),
    create('a JSON file that does not parse', '[{"a":', { ...slug('odd'), name: 'rows.json' }),
    create('a JSON file of no rows', '[]', { ...slug('odd'), name: 'rows.json' }),
    create('a JSONL file', '{"a":1}\n\n{"a":{"b":[]}}\n', { ...slug('jsonl'), name: 'rows.jsonl' }),
    create('a JSONL file with a line that does not parse', '{"a":1}\n{"a"\n', {
      ...slug('odd'),
      name: 'rows.jsonl',
    }),
    create('a type beside another name', '{"a":1}\n', {
      ...slug('typed', { file_type: 'jsonl' }),
      name: 'rows.txt',
    }),
    create('a type that is not known', CSV, slug('odd', { file_type: 'tex' })),
    create('a name that says nothing', CSV, { ...slug('odd'), name: 'rows.bin' }),
    create('a gzip file', gzipSync(CSV), { ...slug('gzip'), name: 'rows.csv.gz' }),
    create('a gzip file that is cut off', gzipSync(CSV).subarray(0, 20), {
      ...slug('odd'),
      name: 'rows.csv.gz',
    }),
    create('a workbook', sheet, { ...slug('workbook'), ...xlsx }),
    create('a workbook, inferred', sheet, { ...slug('workbook-2', { types: 'infer' }), ...xlsx }),
    create('another sheet', sheet, { ...slug('sheet', { sheet: 'Second' }), ...xlsx }),
    create('a sheet that is not there', sheet, { ...slug('odd', { sheet: 'Third' }), ...xlsx }),
    create('a workbook that is cut off', sheet.subarray(0, 100), { ...slug('odd'), ...xlsx }),
    create('a sheet of a CSV file', CSV, slug('odd', { sheet: 'First' })),
    create('without rows in the answer', CSV, slug('brief', { include_testcases: 'false' })),
    create('without ids in the answer', CSV, slug('brief-2', { include_testcase_ids: 'false' })),
    create('with a key that may only read', CSV, { ...slug('odd'), key: 'read' }),
    create('without a key', CSV, { ...slug('odd'), key: 'none' }),
    post('a body that is the file', `${at}?testset_slug=body`, CSV, {
      headers: { 'content-type': 'text/csv' },
    }),
    post('a body of lines', `${at}?testset_slug=lines`, '{"a":1}\n', {
      headers: { 'content-type': 'application/x-ndjson' },
    }),
    post('a body of another type', `${at}?testset_slug=odd`, CSV, {
      headers: { 'content-type': 'image/png' },
    }),
    again('the same rows again', CSV),
    again('the same rows again, if they changed', CSV, { form: { if_changed: 'true' } }),
    again('other rows', 'question,answer\nWho?,Me\n', {
      form: { message: 'Other', testset_name: 'Renamed' },
    }),
    again('a file that is refused', 'a,a\n1,2\n'),
    again('again with a key that may only read', CSV, { key: 'read' }),
    upload('rows for what is not there', `/simple/testsets/${NOBODY}/upload`, CSV),
    onto('rows onto a revision', CSV, { form: { message: 'Onto' } }),
    onto('rows onto a revision, if they changed', CSV, { form: { if_changed: 'true' } }),
    onto('rows onto a revision and a variant', CSV, { form: { 'testset_variant_ref.slug': 'rows' } }),
    onto('rows onto a revision and a variant that is not there', CSV, {
      form: { 'testset_variant_ref.slug': 'nobody' },
    }),
    onto('no rows onto a revision', 'a\n'),
    upload('rows onto what is not there', `/testsets/revisions/${NOBODY}/upload`, CSV),
    post('archive the testset', '/testsets/<rows>/archive'),
    again('rows for what is archived', CSV),
  ]
}

function downloads(): Step[] {
  const simple = '/simple/testsets/<rows>/download'
  const revision = '/testsets/revisions/<rows revision>/download'
  return [
    post(
      'rows',
      '/simple/testsets',
      {
        testset: {
          slug: 'rows',
          data: {
            testcases: [
              { data: { testcase_dedup_id: 'one', question: 'Größe, "wo"?', n: 1.5 } },
              { data: { testcase_dedup_id: 'two', question: '=1+1', n: null, list: [1, { a: 2 }] } },
            ],
          },
        },
      },
      { as: 'rows' },
    ),
    get('the testset as CSV', simple),
    get('the testset as JSON', `${simple}?file_type=json`),
    get('the testset as JSONL', `${simple}?file_type=jsonl`),
    get('the testset with a byte order mark', `${simple}?bom=true`),
    get('the testset with formulas escaped', `${simple}?escape_formulas=true`),
    get('the testset under a name', `${simple}?file_name=größe.csv`),
    get('the testset as something else', `${simple}?file_type=tex`),
    get('the testset with bom that is a word', `${simple}?bom=perhaps`),
    get('the testset by a parameter that nobody reads', `${simple}?nobody_reads=1`),
    get('a testset that is not there', '/simple/testsets/nobody/download'),
    get('the testset for a key that may only write', simple, { key: 'write' }),
    get('the testset without a key', simple, { key: 'none' }),
    post('the testset by a body', simple, { file_type: 'jsonl', file_name: 'x.jsonl' }),
    get('the revision as CSV', revision),
    get('the revision as JSON', `${revision}?file_type=json`),
    get('a revision that is not there', `/testsets/revisions/${NOBODY}/download`),
    get('a revision by an id that is none', '/testsets/revisions/seven/download'),
    post('the revision by a body', revision, { file_type: 'csv', bom: true, escape_formulas: true }),
    post('the revision by a body with a type that is not known', revision, { file_type: 'tex' }),
  ]
}

function rows(): Step[] {
  const commit = (title: string, delta: unknown, as?: string): Step =>
    post(
      title,
      '/testsets/revisions/commit',
      { testset_revision: { message: title, delta }, testset_variant_ref: { slug: 'rows' } },
      as === undefined ? {} : { as },
    )
  const cases = (title: string, body: object, more: object = {}): Step =>
    post(title, '/testcases/query', body, more)
  const history = (title: string, body: object): Step => post(title, '/testsets/rows/history', body)
  const find = (title: string, body: object): Step => post(title, '/testsets/rows/find', body)
  const of = { testset_variant_ref: { slug: 'rows' } }
  return [
    post(
      'the ids of its rows',
      '/testsets/revisions/retrieve',
      { testset_ref: { slug: 'rows' } },
      { as: 'read' },
    ),
    commit(
      'add a row',
      { rows: { add: [{ data: { testcase_dedup_id: 'three', question: 'New' } }] } },
      'third',
    ),
    commit('replace a row', {
      rows: { replace: [{ id: '<rows testcase>', data: { testcase_dedup_id: 'one', question: 'Edited' } }] },
    }),
    commit('add a column', { columns: { add: ['extra'] } }),
    commit('rename a column', { columns: { replace: [['question', 'asked']] } }),
    commit('remove a column', { columns: { remove: ['extra'] } }),
    commit('remove a column that is not there', { columns: { remove: ['nobody'] } }),
    commit('remove a row that is not there', { rows: { remove: [NOBODY] } }),
    commit('add a row of a dedup id that is there', {
      rows: { add: [{ data: { testcase_dedup_id: 'three', question: 'x' } }] },
    }),
    commit('a delta of nothing', {}),
    commit('a delta with a member that nobody reads', { rows: { nobody_reads: 1 } }),
    post('a delta upon an older revision', '/testsets/revisions/commit', {
      testset_revision: { delta: { columns: { add: ['late'] } }, testset_revision_id: '<rows revision>' },
      ...of,
    }),
    post('its rows now', '/testsets/revisions/retrieve', of),
    post('a page of its rows', '/testsets/revisions/retrieve', { ...of, windowing: { limit: 1 } }),
    post('its rows without data', '/testsets/revisions/retrieve', { ...of, include_testcases: false }),
    post('compare two versions of rows', '/testsets/revisions/diff', {
      base: { slug: 'rows', version: 1 },
      head: { slug: 'rows', version: 2 },
    }),
    cases('testcases of a testset', { testset_id: '<rows>' }),
    cases('a page of testcases', { testset_id: '<rows>', windowing: { limit: 1 } }),
    cases('testcases of a revision', { testset_revision_ref: { slug: 'rows', version: 1 } }),
    cases('testcases by ids', { testcase_ids: [NOBODY] }),
    cases('testcases by ids that are a text', { testcase_ids: 'x' }),
    cases('testcases of nothing', {}),
    cases('testcases of what is not there', { testset_id: NOBODY }),
    cases('testcases with a member that nobody reads', { nobody_reads: 1 }),
    cases('testcases for a key that may only write', { testset_id: '<rows>' }, { key: 'write' }),
    get('a testcase', '/testcases/<rows testcase>'),
    get('a testcase that is not there', `/testcases/${NOBODY}`),
    get('a testcase by an id that is none', '/testcases/seven'),
    get('testcases by an address', '/testcases?testcase_ids=<rows testcase>'),
    get('testcases by an address without ids', '/testcases'),
    history('how a row changed', { ...of, dedup_id: 'one' }),
    history('a page of how a row changed', { ...of, dedup_id: 'one', windowing: { limit: 1 } }),
    history('how a row that is not there changed', { ...of, dedup_id: 'nobody' }),
    history('how a row of nothing changed', { dedup_id: 'one' }),
    history('how a row without a dedup id changed', of),
    history('how a row changed with a cursor that is none', {
      ...of,
      dedup_id: 'one',
      windowing: { next: 'x' },
    }),
    find('where a row is', { testset_ref: { slug: 'rows' }, dedup_id: 'two' }),
    find('where a row is in a revision', {
      testset_revision_ref: { slug: 'rows', version: 1 },
      dedup_id: 'two',
    }),
    find('where a row is that is not there', { testset_ref: { slug: 'rows' }, dedup_id: 'nobody' }),
    find('where a row is in nothing', { dedup_id: 'two' }),
    find('where a row is with a member that nobody reads', {
      testset_ref: { slug: 'rows' },
      dedup_id: 'two',
      nobody_reads: 1,
    }),
  ]
}
