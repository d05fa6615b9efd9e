import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type PostgresServer, startPostgres } from '../../scripts/proofs/support/postgres.ts'
import type { Proposal, ProposedWrite } from '../../src/git/following/shared-log.ts'
import { openPostgres } from '../../src/postgres/open-postgres.ts'
import { needsPostgres } from '../needs-postgres.ts'

const TABLES = ['journal', 'names', 'pack_parts', 'packs', 'refs', 'repositories']

describe('postgres: a batch, and what is read of it', function () {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
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
