import { expect } from 'chai'
import type { Reply } from '../../support/servers/service.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import type { TestsetClient } from './testset-client.ts'
import { startTestsets } from './testset-client.ts'

describe('POST /testsets/rows/find', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const ask = (body: object, headers?: Readonly<Record<string, string>>): Promise<Reply> =>
    client.service.post('/testsets/rows/find', body, headers)
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ n: from + at, testcase_dedup_id: `r${from + at}` }))
  const dedupIdsOf = async (slug: string): Promise<readonly string[]> => {
    const { body } = await client.service.post('/testsets/revisions/retrieve', { testset_ref: { slug } })
    return body.testset_revision.data.testcases.map((it: any) => it.data.testcase_dedup_id)
  }

  it('says how many rows stand before it, also of rows that were put between others, so that a page begins with it', async () => {
    const testset = await client.make(rows(0, 700))
    const { slug } = testset
    const { data } = await client.latest(testset)
    const idOf = (dedupId: string): string =>
      data.testcases.find((it: any) => it.data.testcase_dedup_id === dedupId).id
    await client.change(testset, { rows: { remove: [idOf('r3'), idOf('r255'), idOf('r256'), idOf('r511')] } })
    // A file in another order puts its new rows between those that stay.
    const { id } = await client.latest(testset)
    const kept = (await dedupIdsOf(slug)).map((dedupId) => ({
      n: Number(dedupId.slice(1)),
      testcase_dedup_id: dedupId,
    }))
    const lines = [...kept.slice(0, 300), ...rows(900, 1000), ...kept.slice(300)]
    await client.replaceBy(id, lines.map((it) => `${JSON.stringify(it)}\n`).join(''), { file_type: 'jsonl' })
    const order = await dedupIdsOf(slug)
    expect(order.indexOf('r900')).to.equal(300)
    for (const dedupId of ['r0', 'r2', 'r4', 'r254', 'r257', 'r900', 'r999', 'r510', 'r512', 'r699']) {
      const { status, text, body } = await ask({ testset_ref: { slug }, dedup_id: dedupId })
      expect(status, text).to.equal(200)
      const { row } = body
      expect(row).to.include({ dedup_id: dedupId, offset: order.indexOf(dedupId) })
      const { body: page } = await client.service.post('/testsets/revisions/retrieve', {
        testset_ref: { slug },
        windowing: { limit: 1, offset: row.offset },
      })
      const [testcase] = page.testset_revision.data.testcases
      expect(testcase.data.testcase_dedup_id).to.equal(dedupId)
      expect(testcase.id).to.equal(row.testcase_id)
    }
    // In the first version it stood elsewhere.
    const first = await ask({ testset_revision_ref: { slug, version: 1 }, dedup_id: 'r512' })
    expect(first.body.row.offset).to.equal(512)
  })

  it('refuses, naming the field', async () => {
    const { slug } = await client.make(rows(0, 2))
    const named = { testset_ref: { slug } }
    expectRefusal(await ask({ ...named, dedup_id: 'r9' }), 404, 'testcase_not_found', 'r9')
    expectRefusal(await ask({ ...named, dedup_id: '' }), 422, 'invalid_request', 'body.dedup_id')
    expectRefusal(await ask(named), 422, 'invalid_request', 'body.dedup_id')
    expectRefusal(await ask({ dedup_id: 'r1' }), 400, 'incomplete_reference', 'testset')
    expectRefusal(
      await ask({ testset_ref: { slug: 'nobody' }, dedup_id: 'r1' }),
      404,
      'artifact_not_found',
      'nobody',
    )
    const headers = await keyWithScopes(client.service, ['write'])
    expectRefusal(await ask({ ...named, dedup_id: 'r1' }, headers), 403, 'missing_scope', 'read')
  })
})
