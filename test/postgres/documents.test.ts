import { expect } from 'chai'
import pg from 'pg'
import { DOCUMENT_SCHEMA } from '../../src/postgres/documents/document-schema.ts'
import { openPostgresDocuments } from '../../src/postgres/documents/open-documents.ts'
import { PostgresTable } from '../../src/postgres/documents/postgres-table.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { sharingTests } from '../storage/documents/sharing-tests.ts'
import { postgresPrograms, type RealPostgres, startPostgres } from './real-postgres.ts'

const programs = postgresPrograms()
const suite = programs === undefined ? describe.skip : describe

suite('documents in PostgreSQL', () => {
  let postgres: RealPostgres
  let pool: pg.Pool
  let streams = 0
  before(async () => {
    postgres = await startPostgres(programs ?? '')
    pool = new pg.Pool({ ...(await postgres.database()), max: 10 })
    await pool.query(DOCUMENT_SCHEMA)
  })
  after(async () => {
    await pool.end()
    await postgres.stop()
  })

  const newStream = (): string => `server-${++streams}`
  const clear = (): Promise<unknown> =>
    pool.query('truncate documents, document_parts, document_streams, document_log, leases')
  const contents = async (): Promise<Record<string, string>> => {
    const { rows } = await pool.query<{ path: string; text: string }>(
      `select path, string_agg(convert_from(bytes, 'utf8'), '' order by version) as text from document_parts group by path`,
    )
    return Object.fromEntries(rows.map(({ path, text }) => [path, text]))
  }

  sharingTests(async () => {
    await clear()
    return {
      server: () => {
        const table = new PostgresTable(pool, newStream())
        return { table, entries: async () => (await table.entries()) ?? [] }
      },
      contents,
      expire: async (name) =>
        void (await pool.query('update leases set until = now() where name = $1', [name])),
    }
  }, 40)

  it('a server that was away for longer than is remembered compares everything', async () => {
    await clear()
    const open = () => openPostgresDocuments({ pool, stream: newStream(), fs: memoryFs(), dir: '/store' })
    const [one, two] = [await open(), await open()]
    await one.documents.put('/store/default/keys.json', Buffer.from('1'))
    await two.follow()
    await one.documents.put('/store/default/keys.json', Buffer.from('2'))
    await one.documents.put('/store/default/sessions.json', Buffer.from('1'))
    await new PostgresTable(pool, newStream()).trim(0)
    await two.follow()
    const there = await two.documents.update('/store/default/keys.json', (before) => ({
      answer: String(before),
    }))
    expect(there).to.equal('2')
    expect(await contents()).to.deep.equal({ 'default/keys.json': '2', 'default/sessions.json': '1' })
  })
})
