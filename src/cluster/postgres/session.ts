import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { codeOf } from './errors.ts'

/** The time limit (milliseconds) of a setting; a slower connection is useless. */
const MAX_SETTING_MS = 2_000

/**
 * Settings that each connection makes for itself, whatever the defaults of the server, database and user (`alter database … set …`). Settings
 * unknown to the PostgreSQL version are skipped.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // Statements are short, and compiling one takes longer than running it.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  geqo: 'off',
  plan_cache_mode: 'auto',
  // `append` must see what was committed while it waited for its locks.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // Each kind of statement has its own time limit.
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // A server that hangs within a transaction keeps its locks for a minute at most.
  idle_in_transaction_session_timeout: '60000',
  // Formats of values.
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Warnings must arrive, because one of them says that no standby has a commit, so that it may be lost.
  client_min_messages: 'notice',
}

const NEEDED = Object.entries(SETTINGS)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')

/**
 * The time limits are set first, in statements of their own, so that they do not limit the next statement. Each `enable_…`, with which a
 * database may turn off the use of indexes, is reset to PostgreSQL's default. synchronous_commit is reset if it is `local` or `off`, because
 * a crash or failover could lose acknowledged writes; the operator may choose among the other values.
 */
const SET = `set statement_timeout = 0; set lock_timeout = 0; set search_path = pg_catalog;
select count(set_config(there.name, coalesce(needed.value, there.boot_val), false))
from pg_settings as there left join (values ${NEEDED}) as needed (name, value) on needed.name = lower(there.name)
where needed.name is not null
  or there.name like 'enable\\_%' and there.setting <> there.boot_val
  or there.name = 'synchronous_commit' and there.setting in ('off', 'local')`

/** Makes the settings of a new connection. Rejects if that fails. */
export async function setUp(client: ClientBase): Promise<void> {
  await client.query({ text: SET, query_timeout: MAX_SETTING_MS } as object & { text: string })
}

/** A pooler may answer with the same connection by chance. */
const SAME_CONNECTION_CHECKS = 8

/**
 * Whether a connection keeps its settings. A pooler that switches connections by transaction or statement would mix up settings, prepared
 * statements and listeners of clients.
 */
export async function keepsSessions(one: ClientBase, other: ClientBase): Promise<boolean> {
  const ask = async (client: ClientBase, text: string): Promise<string | null | undefined> => {
    const result = await client.query<{ mark: string | null }>({
      text,
      query_timeout: MAX_SETTING_MS,
    } as object & { text: string })
    return result.rows[0]?.mark
  }
  const own = "select pg_catalog.current_setting('branchpoint.session', true) as mark"
  for (let round = 0; round < SAME_CONNECTION_CHECKS; round++) {
    const mark = randomUUID()
    await ask(one, `select pg_catalog.set_config('branchpoint.session', '${mark}', false) as mark`)
    try {
      await ask(other, 'begin')
      // If `other` got the connection of `one`, `one` now gets another.
      if ((await ask(other, own)) === mark || (await ask(one, own)) !== mark) return false
      await ask(other, 'rollback')
    } catch (error) {
      // A pooler by statement allows no transactions; one with a single connection has none left for the first client.
      if (codeOf(error) === '08P01' || /timeout/i.test((error as Error).message)) return false
      throw error
    }
  }
  return true
}
