import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import type { Proposal, ProposedWrite } from '../../../src/cluster/following/shared-log.ts'
import { openPostgres } from '../../../src/cluster/postgres/open-postgres.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'

const TABLES = ['journal', 'names', 'pack_parts', 'packs', 'refs', 'repositories']

/** PostgreSQL writes down the plan of each statement, also of those in functions, with what it reckons with. */
const EXPLAINED = [
  "session_preload_libraries = 'auto_explain'",
  'auto_explain.log_min_duration = 0',
  'auto_explain.log_nested_statements = on',
  "log_min_messages = 'log'",
]

/** From this on PostgreSQL compiles a statement by itself (`jit_above_cost`). */
const COMPILED = 100_000

describe('postgres: a batch, and what is read of it', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres(EXPLAINED)
  })
  after(() => postgres?.stop())

  it('find rows by their keys: no table is read from one end to the other', async () => {
    const url = await postgres.database()
    const open = openPostgres({ url, reads: 'primary', warn: () => undefined })
    // Makes the tables, which reads them for their indexes.
    await (await open(undefined)).close()
    const before = await readWhole(url)
    const log = await open(undefined)
    const names = Array.from({ length: 8 }, (_, number) => `w${number}`)
    try {
      await log.append(names.map((name) => proposalOf(creation(name))))
      const from = (await log.look()).positions
      for (let value = 1; value < 9; value++)
        await log.append(names.map((name) => proposalOf(commit(name, value))))
      const entries = await log.read(from, (await log.look()).positions)
      expect(entries.map(({ writes }) => writes.length)).to.deep.equal(Array.from({ length: 64 }, () => 1))
    } finally {
      await log.close()
    }
    expect(await readWhole(url)).to.deep.equal(before)
  })

  it('are estimated at what they are: no statement is expensive enough for the compiler', async () => {
    const url = await postgres.database()
    const open = openPostgres({ url, reads: 'quorum', warn: () => undefined })
    const begun = plansOf(postgres).length
    const log = await open(undefined)
    const other = await open(undefined)
    try {
      const from = (await other.look()).positions
      await log.append([proposalOf(creation('one')), proposalOf(creation('two'))])
      for (let value = 1; value < 40; value++)
        await log.append([proposalOf(commit('one', value)), proposalOf(commit('two', value))])
      await log.append([
        { ...proposalOf(commit('one', 40)), needs: ['default/workflows/two.git'], seen: new Map([['a', 1]]) },
      ])
      const entries = await other.read(from, (await other.look()).positions)
      expect(entries).to.have.length(80)
      const paths = ['default/workflows/one.git', 'default/workflows/two.git']
      expect((await other.states(paths)).size).to.equal(2)
      const { table } = log.documents
      const change = {
        path: 'default/keys.json',
        kind: 'put',
        bytes: Buffer.from('{}'),
        expected: 0,
      } as const
      expect((await table.decide(change)).kind).to.equal('done')
      expect(await other.documents.table.newerThan(new Map([[change.path, 0]]))).to.have.length(1)
    } finally {
      await log.close()
      await other.close()
    }
    const plans = plansOf(postgres).slice(begun)
    const statements = plans.map(({ text }) => text)
    for (const part of ['branchpoint.append(', 'insert into branchpoint.refs', 'problems as (', 'as wanted'])
      expect(statements.filter((text) => text.includes(part)).length, part).to.be.above(0)
    const expensive = plans.filter(({ cost }) => cost >= COMPILED)
    expect(expensive.map(({ cost, text }) => `${cost}: ${text.slice(0, 200)}`)).to.deep.equal([])
  })
})

/** How often each table was read as a whole, by connections that are over: at its end at the latest each writes down what it has counted. */
async function readWhole(url: string): Promise<Record<string, string>> {
  const open = `select from pg_stat_activity where datname = current_database() and application_name = 'branchpoint'`
  while ((await ask(url, open)).length > 0) await pause(20)
  const rows = await ask<{ relname: string; seq_scan: string }>(
    url,
    `select relname, seq_scan from pg_stat_user_tables where schemaname = 'branchpoint' order by relname`,
  )
  return Object.fromEntries(
    rows.filter(({ relname }) => TABLES.includes(relname)).map((row) => [row.relname, row.seq_scan]),
  )
}

/** The plans that PostgreSQL wrote down: the statement, and the costs that were reckoned with. */
function plansOf({ folder }: PostgresServer): readonly { readonly text: string; readonly cost: number }[] {
  const log = readFileSync(join(folder, 'log'), 'utf8')
  return log.split(/^\S+ \S+ \S+ \[\d+\] /m).flatMap((line) => {
    const found = /plan:\n\tQuery Text: ([^]*?)\(cost=[\d.]+\.\.([\d.]+)/.exec(line)
    return found ? [{ text: found[1] ?? '', cost: Number(found[2]) }] : []
  })
}

function proposalOf(write: ProposedWrite): Proposal {
  return { writes: [write], needs: [], seen: new Map(), notes: [] }
}

function creation(name: string): ProposedWrite {
  return { ...commit(name, 0), head: 'main' }
}

function commit(name: string, value: number): ProposedWrite {
  const [expected, target] = [value - 1, value].map((one) => `${one}`.repeat(40))
  return {
    repository: `default/workflows/${name}.git`,
    moves: [{ ref: 'refs/heads/main', expected: value === 0 ? undefined : expected, target }],
    pack: { name: `pack-${value}`, bytes: Buffer.from('bytes') },
    staged: [],
    claims: [{ name: `${name}-${value}`, mustBeFree: true, isTaken: true }],
  }
}
