import { expect } from 'chai'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { Database } from '../../../src/cluster/postgres/database.ts'
import {
  type DocumentDatabase,
  type DocumentStatement,
  PostgresTable,
} from '../../../src/cluster/postgres/postgres-table.ts'
import { isOtherPlace, LostConnection } from '../../../src/cluster/postgres/errors.ts'
import { migrate } from '../../../src/cluster/postgres/open-postgres.ts'
import type { SharedDocuments } from '../../../src/cluster/documents/shared-documents.ts'
import { sharingTests } from '../../storage/documents/sharing-tests.ts'
import { FOLDER, sharingServer } from '../../storage/documents/shared-store.ts'

describe('documents in PostgreSQL', () => {
  let postgres: PostgresServer
  let url: string
  let database: Database
  let streams = 0
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    url = await postgres.database()
    database = new Database([url])
    await migrate(database)
  })
  after(async () => {
    await database?.close()
    await postgres?.stop()
  })

  const TABLES = ['documents', 'document_parts', 'document_streams', 'document_log', 'leases']
  const clear = (): Promise<unknown> => ask(url, `truncate ${TABLES.map((it) => `branchpoint.${it}`).join()}`)
  const newTable = (over: DocumentDatabase = database): PostgresTable =>
    new PostgresTable(over, `server-${++streams}`)
  const opened = async (over?: DocumentDatabase): Promise<SharedDocuments> =>
    (await sharingServer({ feed: newTable(over) })).documents
  const contents = async (): Promise<Record<string, string>> => {
    const rows = await ask<{ path: string; text: string }>(
      url,
      `select path, string_agg(convert_from(bytes, 'utf8'), '' order by version) as text from branchpoint.document_parts group by path`,
    )
    return Object.fromEntries(rows.map(({ path, text }) => [path, text]))
  }
  const textOf = (documents: SharedDocuments, path: string): Promise<string> =>
    documents.update(path, (before) => ({ answer: String(before) }))

  sharingTests(async () => {
    await clear()
    return {
      server: () => newTable(),
      contents,
      expire: async (name) =>
        void (await ask(url, `update branchpoint.leases set until = now() where name = '${name}'`)),
    }
  }, 40)

  it('a server that was away for longer than is remembered compares everything', async () => {
    await clear()
    const [one, two] = [await opened(), await opened()]
    await one.put(`${FOLDER}/default/keys.json`, Buffer.from('1'))
    await two.follow()
    await one.put(`${FOLDER}/default/keys.json`, Buffer.from('2'))
    await one.put(`${FOLDER}/default/sessions.json`, Buffer.from('1'))
    await newTable().trim(0)
    expect(await textOf(two, `${FOLDER}/default/keys.json`)).to.equal('2')
    expect(await contents()).to.deep.equal({ 'default/keys.json': '2', 'default/sessions.json': '1' })
  })

  it('a change whose answer is lost is made once, whether it had reached the database or not', async () => {
    await clear()
    const path = `${FOLDER}/default/evaluations/a.jsonl`
    let lose: 'nothing' | 'question' | 'answer' | 'late' = 'nothing'
    const late: DocumentStatement[] = []
    const breaking: DocumentDatabase = {
      query: (statement) => database.query(statement),
      queryOnce: async <Row>(statement: DocumentStatement): Promise<readonly Row[]> => {
        const lost = lose
        lose = 'nothing'
        if (lost === 'late') late.push(statement)
        const isAsked = lost === 'nothing' || lost === 'answer'
        const answer = isAsked ? await database.queryOnce<Row>(statement) : []
        if (lost === 'nothing') return answer
        throw new LostConnection(undefined)
      },
    }
    const documents = await opened(breaking)
    for (const [number, lost] of (['question', 'answer', 'late', 'question'] as const).entries()) {
      lose = lost
      await documents.append(path, Buffer.from(`${number}\n`))
    }
    // What was on its way comes when nobody waits for it any more.
    for (const statement of late)
      await database.queryOnce(statement).then(
        () => expect.fail('it was carried out twice'),
        (error: unknown) => expect(isOtherPlace(error)).to.equal(true),
      )
    lose = 'answer'
    const counted = `${FOLDER}/default/keys.json`
    await documents.update(counted, (before) => ({
      bytes: Buffer.from(`${String(before)}+`),
      answer: undefined,
    }))
    lose = 'answer'
    await documents.remove(`${FOLDER}/default/gone.json`)
    expect(await contents()).to.deep.equal({
      'default/evaluations/a.jsonl': '0\n1\n2\n3\n',
      'default/keys.json': 'undefined+',
    })
    for (const each of [documents, await opened()]) expect(await textOf(each, path)).to.equal('0\n1\n2\n3\n')
  })
})
