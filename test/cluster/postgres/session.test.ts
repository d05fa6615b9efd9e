import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { Database } from '../../../src/cluster/postgres/database.ts'
import { migrate } from '../../../src/cluster/postgres/open-postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

/** What somebody may have set for a database, and what a connection of a server has all the same. */
const ODD: Readonly<Record<string, Readonly<Record<string, readonly [set: string, needed: string]>>>> = {
  'time limits': {
    statement_timeout: ['5000', '0'],
    lock_timeout: ['5000', '0'],
    idle_session_timeout: ['5000', '0'],
    idle_in_transaction_session_timeout: ['5000', '1min'],
  },
  'what transactions are': {
    default_transaction_isolation: ["'serializable'", 'read committed'],
    default_transaction_read_only: ['on', 'off'],
    default_transaction_deferrable: ['on', 'off'],
    synchronous_commit: ['off', 'on'],
  },
  'the compiler and the planner': {
    jit: ['on', 'off'],
    jit_above_cost: ['0', '0'],
    jit_optimize_above_cost: ['0', '0'],
    enable_indexscan: ['off', 'on'],
    enable_indexonlyscan: ['off', 'on'],
    enable_bitmapscan: ['off', 'on'],
    enable_nestloop: ['off', 'on'],
    enable_hashjoin: ['off', 'on'],
    enable_partition_pruning: ['off', 'on'],
    plan_cache_mode: ['force_custom_plan', 'auto'],
    max_parallel_workers_per_gather: ['8', '0'],
    parallel_setup_cost: ['0', '0'],
    geqo_threshold: ['2', '2'],
    geqo: ['on', 'off'],
  },
  'how values are written': {
    search_path: ["'nowhere'", 'pg_catalog'],
    timezone: ["'Asia/Kathmandu'", 'UTC'],
    datestyle: ["'German, DMY'", 'ISO, MDY'],
    intervalstyle: ["'iso_8601'", 'postgres'],
    bytea_output: ["'escape'", 'hex'],
    standard_conforming_strings: ['off', 'on'],
    array_nulls: ['off', 'on'],
    transform_null_equals: ['on', 'off'],
    client_min_messages: ["'error'", 'notice'],
  },
}

describe('postgres: a database with defaults of its own', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  for (const [what, settings] of Object.entries(ODD)) {
    it(`may set ${what}: connections set what they need, and two servers work`, async () => {
      const url = await postgres.database()
      const name = new URL(url).pathname.slice(1)
      await ask(
        postgres.url('postgres'),
        Object.entries(settings)
          .map(([setting, [odd]]) => `alter database ${name} set ${setting} = ${odd}`)
          .join(';'),
      )
      const services: RunningService[] = []
      try {
        for (let count = 0; count < 2; count++) {
          const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
          services.push(await startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } }))
        }
        await works(services)
      } finally {
        for (const service of services) await service.stop()
      }
      const names = Object.keys(settings)
      const database = new Database([url])
      try {
        const text = `select ${names.map((setting) => `current_setting('${setting}') as ${setting}`).join()}`
        const [found] = await database.query<Record<string, string>>({ text })
        const needed = Object.entries(settings).map(([setting, [, value]]) => [setting, value])
        expect(found).to.deep.equal(Object.fromEntries(needed))
        const listener = await database.listener()
        const { rows } = await listener.query(text)
        await listener.end()
        expect(rows[0]).to.deep.equal(found)
      } finally {
        await database.close()
      }
    })
  }

  it('is written to by functions that set what they need themselves', async () => {
    const url = await postgres.database()
    const database = new Database([url])
    await migrate(database)
    await database.close()
    const rows = await ask<{ name: string; config: string[] | null }>(
      url,
      `select proname as name, proconfig as config from pg_proc where pronamespace = 'branchpoint'::regnamespace order by proname`,
    )
    expect(rows.map(({ name }) => name)).to.include.members(['append', 'change_documents', 'record_spans'])
    for (const { name, config } of rows) {
      expect(config, name).to.include('search_path=pg_catalog')
      // It only makes a table.
      if (name !== 'make_span_day') expect(config, name).to.include('jit=off')
    }
    const refused = await ask(
      url,
      `begin isolation level repeatable read;
      select branchpoint.append(1, gen_random_uuid(), 1, '', '{}', '{}', '[]', '')`,
    ).catch((error: Error) => error.message)
    expect(refused).to.match(/isolation level read committed/)
  })
})

/** Every kind of thing that lies in the database is written at one server and read at the other. */
async function works([here, there]: readonly RunningService[]): Promise<void> {
  if (!here || !there) throw new Error('two servers are needed')
  const posted = async (to: RunningService, path: string, body: object): Promise<any> => {
    const reply = await to.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const data = { parameters: { number: 1, text: "it's a \\ back" } }
  const { workflow } = await posted(here, '/simple/workflows/', { workflow: { slug: 'bot', data } })
  const { workflow_revision: revision } = await posted(there, '/workflows/revisions/commit', {
    workflow_revision_commit: {
      workflow_variant_id: workflow.variant_id,
      data: { parameters: { number: 2 } },
      deploy: ['production'],
    },
  })
  const found = await posted(here, '/workflows/revisions/retrieve', {
    workflow_ref: { slug: 'bot' },
    environment_ref: { slug: 'production' },
  })
  expect(found.workflow_revision.id).to.equal(revision.id)
  const taken = await there.post('/simple/workflows/', { workflow: { slug: 'BOT', data } })
  expect(taken.status, taken.text).to.equal(409)
  // Documents: a key that is made at one opens the other.
  const { key } = await posted(here, '/keys', { key: { name: 'ci', scopes: ['read'] } })
  const asked = await there.call('POST', '/workflows/query', {}, { Authorization: `ApiKey ${key.secret}` })
  expect(asked.status, asked.text).to.equal(200)
  // Traces: who asks where it ran waits until it is stored.
  await posted(here, '/services/mock/v0/invoke', { data: { inputs: { n: 1 }, parameters: { key: 'echo' } } })
  const { traces } = await posted(here, '/traces/query', { windowing: { limit: 1 } })
  const trace = await there.get(`/traces/${traces[0].trace_id}`)
  expect(trace.status, trace.text).to.equal(200)
}
