import { testsets } from '../conformance/tested-family.ts'
import { uploadFormOf } from '../upload-form-of.ts'
import { arrangeRefused, NOBODY } from './refused-fixture.ts'
import type { Loc } from './refused-payloads.ts'
import { refusedPayloads } from './refused-payloads.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: payloads of testsets', () => {
  const store = refusedRequests((service) => arrangeRefused(service, testsets))
  const { refuses } = store
  const { refusesData, refusesUnknown, refusesDelta } = refusedPayloads(testsets, store)
  const commit = '/testsets/revisions/commit'
  const rows = (...data: readonly unknown[]) => ({ testcases: data.map((it) => ({ data: it })) })

  it('an unknown key of data is named', () => refusesUnknown({ rows: [] }, [['rows']], 'rows'))

  it('every problem is named at once, wherever it stands', () =>
    refusesUnknown(
      { columns: [], testcases: [{ data: {} }, { dta: {} }, 7, { data: [] }] },
      [['columns'], ['testcases', 1, 'dta'], ['testcases', 2], ['testcases', 3, 'data']],
      'columns',
      'testcases.1.dta',
      'testcases.2',
      'testcases.3.data',
    ))

  const wrong: readonly (readonly [unknown, Loc])[] = [
    [[], []],
    ['text', []],
    [{ testcases: {} }, ['testcases']],
    [{ testcases: ['a'] }, ['testcases', 0]],
    [rows([]), ['testcases', 0, 'data']],
    [rows({ testcase_dedup_id: 7 }), ['testcases', 0, 'data', 'testcase_dedup_id']],
    [rows({ __dedup_id__: {} }), ['testcases', 0, 'data', '__dedup_id__']],
    [rows({ __flags__: 'x' }), ['testcases', 0, 'data', '__flags__']],
    [{ testcases: [{ data: {}, tags: [] }] }, ['testcases', 0, 'tags']],
    [{ testcase_ids: 'x' }, ['testcase_ids']],
    [{ testcase_ids: [NOBODY, 'x'] }, ['testcase_ids', 1]],
    [{ testcase_ids: [NOBODY] }, ['testcase_ids', 0]],
  ]
  for (const [data, at] of wrong) {
    it(`${JSON.stringify(data)} is refused at ${['data', ...at].join('.')}`, () =>
      refusesData(data, [at], at.join('.')))
  }

  const deltas: readonly (readonly [unknown, Loc, string?])[] = [
    [[], []],
    [{ set: {} }, ['set'], 'unknown_field'],
    [{ rows: { insert: [] } }, ['rows', 'insert'], 'unknown_field'],
    [{ rows: { add: {} } }, ['rows', 'add']],
    [{ rows: { add: [{ dta: {} }] } }, ['rows', 'add', 0, 'dta'], 'unknown_field'],
    [{ rows: { remove: ['x'] } }, ['rows', 'remove', 0]],
    [{ rows: { remove: [NOBODY] } }, ['rows', 'remove', 0], 'no_such_key'],
    [{ rows: { replace: [{ data: {} }] } }, ['rows', 'replace', 0, 'id']],
    [{ rows: { replace: [{ id: NOBODY, data: {} }] } }, ['rows', 'replace', 0]],
    [{ columns: { remove: 'mark' } }, ['columns', 'remove']],
    [{ columns: { replace: [['mark']] } }, ['columns', 'replace', 0]],
  ]
  for (const [delta, at, code = 'invalid_request'] of deltas) {
    it(`the delta ${JSON.stringify(delta)} is refused`, () => refusesDelta(delta, code, at))
  }

  it('a delta on rows of a revision that is no longer the latest is a 409, of another testset a 422', async () => {
    const { bot, first, second, goneRevision } = store.made
    const ask = (testset_revision_id: string, delta: object) => ({
      path: commit,
      body: { testset_revision_commit: { testset_id: bot, testset_revision_id, delta } },
    })
    await refuses(ask(first, { rows: { remove: [NOBODY] } }), {
      status: 409,
      code: 'revision_conflict',
      says: [first, second],
    })
    for (const delta of [testsets.delta('new'), { rows: { remove: [NOBODY] } }]) {
      await refuses(ask(goneRevision, delta), {
        status: 422,
        code: 'invalid_request',
        says: [goneRevision, 'gone'],
        at: [['body', 'testset_revision_commit', 'testset_revision_id']],
      })
    }
  })

  it('a file that is refused makes neither testset, variant nor revision', async () => {
    const { bot, bare, first } = store.made
    const bad: readonly (readonly [FormData, number, string])[] = [
      [uploadFormOf('a,b\n"x\n', { file_type: 'csv' }), 422, 'invalid_file'],
      [uploadFormOf('{"a":1}', { file_type: 'json' }), 422, 'invalid_file'],
      [uploadFormOf('a\n1\n', { file_type: 'parquet' }), 422, 'invalid_request'],
    ]
    for (const [body, status, code] of bad) {
      for (const path of [
        '/simple/testsets/upload',
        `/simple/testsets/${bot}/upload`,
        `/simple/testsets/${bare}/upload`,
        `/testsets/revisions/${first}/upload`,
      ]) {
        await refuses({ path, body }, { status, code, says: [] })
      }
    }
  })

  it('a file for what is archived, or not there, or under a slug that is taken', async () => {
    const { gone, goneRevision } = store.made
    const body = uploadFormOf('mark\nx\n')
    const archived = { status: 409, code: 'archived', says: ['"gone"'] }
    await refuses({ path: `/simple/testsets/${gone}/upload`, body }, archived)
    await refuses({ path: `/testsets/revisions/${goneRevision}/upload`, body }, archived)
    await refuses(
      { path: `/simple/testsets/${NOBODY}/upload`, body },
      { status: 404, code: 'artifact_not_found', says: [NOBODY] },
    )
    await refuses(
      { path: `/testsets/revisions/${NOBODY}/upload`, body },
      { status: 404, code: 'revision_not_found', says: [NOBODY] },
    )
    await refuses(
      { path: '/simple/testsets/upload', body: uploadFormOf('mark\nx\n', { testset_slug: 'bot' }) },
      { status: 409, code: 'slug_taken', says: ['"bot"'] },
    )
  })

  it('a file for another revision than the latest one of If-Match', async () => {
    const { first, second } = store.made
    const path = `/testsets/revisions/${second}/upload`
    await refuses(
      { path, body: uploadFormOf('mark\nx\n'), headers: { 'if-match': `"${first}.x"` } },
      { status: 412, code: 'precondition_failed', says: ['If-Match', first, second] },
    )
  })

  it('a testcase that is not there is a 404, none asked for a 400, and none can be changed', async () => {
    await refuses(
      { method: 'GET', path: `/testcases/${NOBODY}` },
      { status: 404, code: 'testcase_not_found', says: [NOBODY] },
    )
    await refuses(
      { method: 'GET', path: '/testcases/x' },
      { status: 422, code: 'invalid_request', says: ['path.id'], at: [['path', 'id']] },
    )
    for (const request of [
      { method: 'GET', path: '/testcases/' },
      { path: '/testcases/query', body: {} },
    ])
      await refuses(request, { status: 400, code: 'incomplete_reference', says: ['testcase_ids'] })
    for (const method of ['PUT', 'DELETE'])
      await refuses(
        { method, path: `/testcases/${NOBODY}`, body: {} },
        { status: 405, code: 'method_not_allowed', says: [method, 'GET'] },
      )
  })
})
