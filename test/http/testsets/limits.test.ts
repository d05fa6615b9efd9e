import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { ADMIN_KEY, type Reply } from '../../support/servers/service.ts'
import { settledFiles, storeFiles } from './store-files.ts'
import { type MadeTestset, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

const ROWS = 20
const ROW_BYTES = 2000
const FILE_BYTES = 100_000

describe('testsets: limits (5.6)', () => {
  let client: TestsetClient
  let testset: MadeTestset
  before(async () => {
    client = await startTestsets({
      env: {
        TESTSET_MAX_ROWS: `${ROWS}`,
        TESTSET_MAX_ROW_BYTES: `${ROW_BYTES}`,
        UPLOAD_MAX_BYTES: `${FILE_BYTES}`,
      },
    })
    testset = await client.make([{ n: 'here' }])
  })
  after(() => client.stop())

  /** Each request is refused with 413 and this sentence, and leaves the store as it was. */
  const expectRefused = async (requests: readonly (() => Promise<Reply>)[], sentence: RegExp) => {
    const before = await settledFiles(client.service.storeDir)
    for (const request of requests) {
      const reply = await request()
      expect(reply.status, reply.text).to.equal(413)
      expect(reply.body.detail).to.match(sentence)
      expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
    }
  }

  /** Every way to bring a list of rows. */
  const ways = (rows: readonly object[]): (() => Promise<Reply>)[] => {
    const testcases = rows.map((data) => ({ data }))
    const file = JSON.stringify(rows)
    const fields = { file_type: 'json' }
    return [
      () => client.service.post('/simple/testsets', { testset: { slug: 'too-much', data: { testcases } } }),
      () => client.service.put(`/simple/testsets/${testset.id}`, { testset: { data: { testcases } } }),
      () => client.commit({ testset_id: testset.id, data: { testcases } }),
      () => client.commit({ testset_id: testset.id, delta: { rows: { add: testcases } } }),
      () => client.send('/simple/testsets/upload', file, { fields: { ...fields, testset_slug: 'too-much' } }),
      () => client.send(`/simple/testsets/${testset.id}/upload`, file, { fields }),
      () => client.send(`/testsets/revisions/${testset.revisionId}/upload`, file, { fields }),
    ]
  }
  const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

  // interface 8.27
  it('more rows than the limit are 413 naming it, whatever brings them, and nothing is stored', async () => {
    await expectRefused(ways(numbered(ROWS + 1)), /\b20 rows\b/)
  })

  it('as many as the limit are taken, after equal ones have become one', async () => {
    const rows = [...numbered(ROWS), ...numbered(ROWS)]
    for (const way of [client.make(rows), client.makeOf(JSON.stringify(rows), { file_type: 'json' })])
      expect((await way).ids).to.have.length(ROWS)
    const named = [...numbered(15), ...numbered(15).map((row, n) => ({ ...row, testcase_dedup_id: `${n}` }))]
    expect((await client.make(named)).ids).to.have.length(15)
    const full = await client.make(numbered(ROWS))
    const swap = { rows: { remove: [full.ids[0]], add: [{ data: { n: 'in its place' } }] } }
    expect((await client.change(full, swap)).data.testcase_ids).to.have.length(ROWS)
  })

  it('a delta counts the rows that are there', async () => {
    const full = await client.make(numbered(ROWS))
    const more = { rows: { add: [{ data: { n: 'one more' } }] } }
    await expectRefused([() => client.commit({ testset_id: full.id, delta: more })], /\b20 rows\b/)
  })

  // interface 8.27
  it('a row larger than the limit is 413 naming it; a file names the line', async () => {
    const rows = [{ n: 1 }, { text: 'é'.repeat(ROW_BYTES / 2) }]
    await expectRefused(ways(rows), /\b2000 bytes a row\b/)
    const [first] = testset.ids
    const delta = { rows: { replace: [{ id: first, data: rows[1] }] } }
    await expectRefused([() => client.commit({ testset_id: testset.id, delta })], /\b2000 bytes a row\b/)
    const csv = `n,text\n1,\n2,"${'x'.repeat(ROW_BYTES)}"\n`
    const lines = rows.map((row) => JSON.stringify(row)).join('\n')
    await expectRefused([() => client.send('/simple/testsets/upload', csv)], /^Line 3, column 1: /)
    const fields = { file_type: 'jsonl' }
    await expectRefused(
      [() => client.send('/simple/testsets/upload', lines, { fields })],
      /^Line 2, column 1: /,
    )
  })

  it('the largest row is taken', async () => {
    const rest = `{"testcase_dedup_id":"${'0'.repeat(12)}","text":""}\n`.length
    const { ids } = await client.make([{ text: 'x'.repeat(ROW_BYTES - rest) }])
    expect(ids).to.have.length(1)
    const [reply] = [await ways([{ text: 'x'.repeat(ROW_BYTES - rest + 1) }])[0]?.()]
    expect(reply?.status).to.equal(413)
  })

  it('more columns than 10,000 are 413, in one row, over rows, and by a delta', async () => {
    const wide = await startTestsets()
    const made = await wide.make([{ n: 1 }])
    const many = Array.from({ length: 10_001 }, (_, n) => `c${n}`)
    const before = await settledFiles(wide.service.storeDir)
    const halves = [many.slice(0, 6000), many.slice(6000)].map((names) => ({
      data: Object.fromEntries(names.map((name) => [name, 1])),
    }))
    const csv = `${many.join(',')}\n${many.map(() => '1').join(',')}\n`
    const json = JSON.stringify([Object.fromEntries(many.map((name) => [name, 1]))])
    for (const reply of [
      await wide.send('/simple/testsets/upload', csv),
      await wide.send('/simple/testsets/upload', json, { fields: { file_type: 'json' } }),
      await wide.commit({ testset_id: made.id, data: { testcases: halves } }),
      await wide.commit({ testset_id: made.id, delta: { rows: { add: halves } } }),
      await wide.commit({ testset_id: made.id, delta: { columns: { add: many } } }),
    ]) {
      expect(refusal(reply)).to.match(/^413 limit_exceeded: .*10000\b/)
      expect(storeFiles(wide.service.storeDir)).to.deep.equal(before)
    }
    await wide.stop()
  })

  it('a header of a million columns is refused before it is read to its end', async () => {
    const wide = await startTestsets()
    const header = Array.from({ length: 1_000_000 }, (_, n) => `c${n}`).join(',')
    const reply = await wide.send('/simple/testsets/upload', `${header}\n`)
    expect(refusal(reply)).to.match(/^413 limit_exceeded: Line 1, column \d+: .*10000\b/)
    await wide.stop()
  })

  // interface 8.27
  it('a file past the limit is 413 naming it, as a form or a body', async () => {
    const big = `n\n${'1\n'.repeat(FILE_BYTES / 2)}`
    await expectRefused([() => client.send('/simple/testsets/upload', big)], /\b100000 bytes\b/)
    await expectRefused([() => sendBody(client, Buffer.from(big))], /\b100000 bytes\b/)
  })

  it('so is a zip bomb, long before it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x,y\n'))
    expect(bomb.length).to.be.below(1024 * 1024)
    const before = process.memoryUsage.rss()
    await expectRefused([() => sendBody(client, bomb, { 'content-encoding': 'gzip' })], /\b100000 bytes\b/)
    expect(process.memoryUsage.rss() - before).to.be.below(64 * 1024 * 1024)
  })

  it('a length that is announced past the limit is refused at once', async () => {
    const reply = await fetch(`${client.service.url}/simple/testsets/upload`, {
      method: 'POST',
      body: new ReadableStream({
        pull: (controller) => {
          controller.enqueue(Buffer.alloc(64 * 1024, 'n\n'))
        },
      }),
      duplex: 'half',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv' },
    } as RequestInit).catch((error: Error) => error)
    // Without end: the answer comes while it is sent, or the connection breaks.
    if (!(reply instanceof Error)) expect(reply.status).to.equal(413)
    expect((await client.service.get('/testsets/' + testset.id)).status).to.equal(200)
  })
})

/** The file itself as the body of a request. */
async function sendBody(
  { service }: TestsetClient,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const response = await fetch(`${service.url}/simple/testsets/upload`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv', ...headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}
