import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { codeOf } from './errors.ts'

/** The connection is useless if a setting takes longer, in milliseconds. */
const ANSWERED = 2_000

/**
 * What a connection sets for itself, whatever the server, the database and the user have as defaults (`alter database … set …`). A setting
 * that this version of PostgreSQL does not know is left out.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // Statements are short. Compiling one takes longer than anything it does.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  geqo: 'off',
  plan_cache_mode: 'auto',
  // `append` compares behind the locks that it takes: it has to see what was committed while it waited.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // The statements have time limits of their own, by their kind.
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // A server that stands still in the middle of a transaction has its locks for a minute at most.
  idle_in_transaction_session_timeout: '60000',
  // How values are read and written.
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // A warning says that no standby has a commit: without it a lost one would count as safe.
  client_min_messages: 'notice',
}

const NEEDED = Object.entries(SETTINGS)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')

/**
 * The time limits come first and by themselves, since the statement behind them would have to keep to them. Each `enable_…`, by which a
 * database may forbid the planner its indexes, gets what PostgreSQL has by itself. `local` and `off` of synchronous_commit acknowledge what a
 * crash or a failover may lose; what waits for a standby in one way or another is the operator's to choose.
 */
const SET = `set statement_timeout = 0; set lock_timeout = 0; set search_path = pg_catalog;
select count(set_config(there.name, coalesce(needed.value, there.boot_val), false))
from pg_settings as there left join (values ${NEEDED}) as needed (name, value) on needed.name = lower(there.name)
where needed.name is not null
  or there.name like 'enable\\_%' and there.setting <> there.boot_val
  or there.name = 'synchronous_commit' and there.setting in ('off', 'local')`

/** Has a new connection set what is needed. Rejects where it cannot. */
export async function setUp(client: ClientBase): Promise<void> {
  await client.query({ text: SET, query_timeout: ANSWERED } as object & { text: string })
}

/** A pooler may give the same connection again by chance. */
const SAME_CONNECTION_CHECKS = 8

/**
 * Whether what is set in a connection stays there. A pooler that gives each transaction, or each statement, a connection of its own would
 * mix up settings, prepared statements and listeners of different clients.
 */
export async function keepsSessions(one: ClientBase, other: ClientBase): Promise<boolean> {
  const ask = async (client: ClientBase, text: string): Promise<string | null | undefined> => {
    const result = await client.query<{ mark: string | null }>({
      text,
      query_timeout: ANSWERED,
    } as object & { text: string })
    return result.rows[0]?.mark
  }
  const own = "select pg_catalog.current_setting('branchpoint.session', true) as mark"
  for (let round = 0; round < SAME_CONNECTION_CHECKS; round++) {
    const mark = randomUUID()
    await ask(one, `select pg_catalog.set_config('branchpoint.session', '${mark}', false) as mark`)
    try {
      await ask(other, 'begin')
      // If it has the connection of the other one, that one is given another now.
      if ((await ask(other, own)) === mark || (await ask(one, own)) !== mark) return false
      await ask(other, 'rollback')
    } catch (error) {
      // A pooler by the statement allows no transactions; one with a single connection has none left for the first client.
      if (codeOf(error) === '08P01' || /timeout/i.test((error as Error).message)) return false
      throw error
    }
  }
  return true
}
