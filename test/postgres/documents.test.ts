import { expect } from 'chai'
import pg from 'pg'
import { DOCUMENT_SCHEMA } from '../../src/postgres/documents/document-schema.ts'
import { openPostgresDocuments } from '../../src/postgres/documents/open-documents.ts'
import {
  type DocumentDatabase,
  type DocumentStatement,
  PostgresTable,
} from '../../src/postgres/documents/postgres-table.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { sharingTests } from '../storage/documents/sharing-tests.ts'
import { postgresPrograms, type RealPostgres, startPostgres } from './real-postgres.ts'

const programs = postgresPrograms()
const suite = programs === undefined ? describe.skip : describe

suite('documents in PostgreSQL', () => {
  let postgres: RealPostgres
  let pool: pg.Pool
  let database: DocumentDatabase
  let streams = 0
  before(async () => {
    postgres = await startPostgres(programs ?? '')
    pool = new pg.Pool({ ...(await postgres.database()), max: 10 })
    await pool.query(`create schema branchpoint; ${DOCUMENT_SCHEMA}`)
    const query = async <Row>({ values, ...statement }: DocumentStatement): Promise<readonly Row[]> =>
      (await pool.query({ ...statement, values: [...values] })).rows as Row[]
    database = { query, queryOnce: query }
  })
  after(async () => {
    await pool.end()
    await postgres.stop()
  })

  const newStream = (): string => `server-${++streams}`
  const clear = (): Promise<unknown> =>
    pool.query(
      `truncate ${['documents', 'document_parts', 'document_streams', 'document_log', 'leases'].map((it) => `branchpoint.${it}`).join()}`,
    )
  const contents = async (): Promise<Record<string, string>> => {
    const { rows } = await pool.query<{ path: string; text: string }>(
      `select path, string_agg(convert_from(bytes, 'utf8'), '' order by version) as text from branchpoint.document_parts group by path`,
    )
    return Object.fromEntries(rows.map(({ path, text }) => [path, text]))
  }

  sharingTests(async () => {
    await clear()
    return {
      server: () => {
        const table = new PostgresTable(database, newStream())
        return { table, entries: async () => (await table.entries()) ?? [] }
      },
      contents,
      expire: async (name) =>
        void (await pool.query('update branchpoint.leases set until = now() where name = $1', [name])),
    }
  }, 40)

  it('a server that was away for longer than is remembered compares everything', async () => {
    await clear()
    const open = () => openPostgresDocuments({ database, stream: newStream(), fs: memoryFs(), dir: '/store' })
    const [one, two] = [await open(), await open()]
    await one.documents.put('/store/default/keys.json', Buffer.from('1'))
    await two.follow()
    await one.documents.put('/store/default/keys.json', Buffer.from('2'))
    await one.documents.put('/store/default/sessions.json', Buffer.from('1'))
    await new PostgresTable(database, newStream()).trim(0)
    await two.follow()
    const there = await two.documents.update('/store/default/keys.json', (before) => ({
      answer: String(before),
    }))
    expect(there).to.equal('2')
    expect(await contents()).to.deep.equal({ 'default/keys.json': '2', 'default/sessions.json': '1' })
  })

  it('a change whose answer is lost is made once, whether it had reached the database or not', async () => {
    await clear()
    const path = '/store/default/evaluations/a.jsonl'
    let lose: 'nothing' | 'question' | 'answer' = 'nothing'
    const breaking: DocumentDatabase = {
      query: (statement) => database.query(statement),
      queryOnce: async <Row>(statement: DocumentStatement): Promise<readonly Row[]> => {
        const lost = lose
        lose = 'nothing'
        const answer = lost === 'question' ? [] : await database.queryOnce<Row>(statement)
        if (lost === 'nothing') return answer
        throw Object.assign(new Error('the connection broke'), { name: 'LostConnection' })
      },
    }
    const open = (over: DocumentDatabase) =>
      openPostgresDocuments({ database: over, stream: newStream(), fs: memoryFs(), dir: '/store' })
    const { documents } = await open(breaking)
    for (const [number, lost] of (['question', 'answer', 'answer', 'question'] as const).entries()) {
      lose = lost
      await documents.append(path, Buffer.from(`${number}\n`))
    }
    lose = 'answer'
    const counted = '/store/default/keys.json'
    await documents.update(counted, (before) => ({
      bytes: Buffer.from(`${String(before)}+`),
      answer: undefined,
    }))
    lose = 'answer'
    await documents.remove('/store/default/gone.json')
    expect(await contents()).to.deep.equal({
      'default/evaluations/a.jsonl': '0\n1\n2\n3\n',
      'default/keys.json': 'undefined+',
    })
    const other = await open(database)
    expect(await other.documents.update(path, (before) => ({ answer: String(before) }))).to.equal(
      '0\n1\n2\n3\n',
    )
    const own = await documents.update(path, (before) => ({ answer: String(before) }))
    expect(own).to.equal('0\n1\n2\n3\n')
  })
})
