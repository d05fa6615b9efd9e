import type { Client } from 'pg'
import { CannotStart, Refusal } from '../errors.ts'
import type { OpenLog, Reads } from '../git/following/shared-log.ts'
import type { TableFeed } from '../storage/documents/document-table.ts'
import type { SpanTable } from '../traces/shared/span-table.ts'
import { Database } from './database.ts'
import { PostgresTable } from './documents/postgres-table.ts'
import { hostsIn, withoutPassword } from './hosts.ts'
import { migrate } from './migrate.ts'
import { PostgresLog } from './postgres-log.ts'
import { keepsSessions } from './session.ts'
import { PostgresSpans } from './traces/postgres-spans.ts'

/** How a database is used. */
export interface PostgresOptions {
  /** `postgres://user@host,host/database`. */
  readonly url: string
  /** Absent: `quorum` where the database waits for a standby, `primary` where it has none. */
  readonly reads: Reads | undefined
  /** Whether the folder goes when the log is closed, as that of a command does. */
  readonly isPassing?: boolean
  /** Says what an operator should know, in a sentence. */
  readonly warn: (sentence: string) => void
}

/**
 * How the log in a PostgreSQL database is opened for a folder. Throws a CannotStart where the database cannot be had, would lose what it
 * acknowledged, or has a schema of another version.
 */
export function openPostgres({ url, reads, isPassing, warn }: PostgresOptions): OpenLog {
  return async (stream) => {
    const { hosts, settings } = await checked(url)
    const isReplicated = settings.synchronous_standby_names !== ''
    const chosen = reads ?? (isReplicated ? 'quorum' : 'primary')
    if (!isReplicated) {
      warn(
        'the database has no synchronous standby: what it acknowledged is lost if its disk is. Set synchronous_standby_names, or see to it that the service replicates',
      )
    }
    const database = new Database(hosts, chosen === 'quorum')
    try {
      return await PostgresLog.open(database, await migrate(database), chosen, stream, isPassing)
    } catch (error) {
      await database.close()
      throw cannotStart(error, url)
    }
  }
}

/**
 * The documents in a database for whoever has no folder of their own and asks for a few, such as the command line; `close` ends that. Refuses
 * what openPostgres refuses.
 */
export async function openDocumentTable(
  url: string,
): Promise<{ readonly feed: TableFeed; readonly close: () => Promise<void> }> {
  const { hosts } = await checked(url)
  const database = new Database(hosts)
  try {
    await migrate(database)
    return { feed: new PostgresTable(database, 'command line'), close: () => database.close() }
  } catch (error) {
    await database.close()
    throw cannotStart(error, url)
  }
}

/**
 * The spans in a database that was opened with openPostgres, over connections of their own, which are made when there is something to do: no
 * question about traces keeps a commit waiting. A primary that its standbys have left is none for them.
 */
export function openSpanTable(url: string): SpanTable {
  return new PostgresSpans(new Database(hostsIn(url) ?? [], true, SPAN_CONNECTIONS))
}

/** So many connections a server has for spans at most. */
const SPAN_CONNECTIONS = 4

/** The hosts of a database that loses nothing, and how it is set. */
async function checked(
  url: string,
): Promise<{ readonly hosts: readonly string[]; readonly settings: Settings }> {
  const hosts = hostsIn(url)
  if (!hosts)
    throw new CannotStart(
      `${withoutPassword(url)} is not the address of a database, such as postgres://user@host,host/database`,
    )
  const first = new Database(hosts)
  let settings: Settings
  try {
    await refusePooledTransactions(first)
    settings = await settingsOf(first)
  } catch (error) {
    throw cannotStart(error, url)
  } finally {
    await first.close()
  }
  refuseLoss(settings)
  return { hosts, settings }
}

/** Two connections show whether a pooler lies between that mixes up those of different clients. */
async function refusePooledTransactions(database: Database): Promise<void> {
  const clients: Client[] = []
  try {
    for (let count = 0; count < 2; count++) clients.push(await database.listener())
    const [one, other] = clients
    if (!one || !other || (await keepsSessions(one, other))) return
    throw new CannotStart(
      'A pooler lies before the database that gives each transaction a connection of its own (PgBouncer with pool_mode = transaction or statement, ' +
        'or with a single connection). Branchpoint keeps settings, prepared statements and a listener in its connections: set pool_mode = session ' +
        'for this database, with at least 15 connections for each server, or name the database itself in STORE.',
    )
  } finally {
    for (const client of clients) await client.end().catch(() => undefined)
  }
}

interface Settings {
  readonly fsync: string
  readonly session_replication_role: string
  readonly synchronous_standby_names: string
  readonly server_version_num: string
  readonly server_encoding: string
}

async function settingsOf(database: Database): Promise<Settings> {
  const [settings] = await database.query<Settings>({
    text: `select ${[
      'fsync',
      'session_replication_role',
      'synchronous_standby_names',
      'server_version_num',
      'server_encoding',
    ]
      .map((name) => `current_setting('${name}') as ${name}`)
      .join(', ')}`,
  })
  if (!settings) throw new CannotStart('The database does not say how it is set.')
  return settings
}

/** The oldest version of PostgreSQL that has all that is used. */
const OLDEST = 140_000

function refuseLoss(settings: Settings): void {
  const {
    fsync,
    session_replication_role: role,
    server_version_num: version,
    server_encoding: encoding,
  } = settings
  if (Number(version) < OLDEST)
    throw new CannotStart(
      `The database is PostgreSQL ${Math.floor(Number(version) / 10_000)}; 14 or later is needed.`,
    )
  if (!['UTF8', 'SQL_ASCII'].includes(encoding))
    throw new CannotStart(
      `The database has the encoding ${encoding}, which lacks most characters. Make one with the encoding UTF8.`,
    )
  if (fsync === 'off')
    throw new CannotStart(
      'The database has fsync=off: a power cut would lose what was acknowledged. Set it to on.',
    )
  if (role !== 'origin')
    throw new CannotStart(
      `The database has session_replication_role=${role}, so triggers are not carried out, and no connection may set it by itself. Set it to origin (alter database … reset session_replication_role).`,
    )
}

function cannotStart(error: unknown, url: string): unknown {
  if (error instanceof CannotStart) return error
  const isOfTheDatabase =
    error instanceof Refusal || /^[0-9A-Z]{5}$/.test(String((error as NodeJS.ErrnoException).code))
  if (!isOfTheDatabase) return error
  return new CannotStart(`Cannot open the database ${withoutPassword(url)}: ${messageOf(error)}`, {
    cause: error,
  })
}

/** What the database said itself: whoever starts a server has stored nothing yet. */
function messageOf(error: unknown): string {
  const own = error instanceof Refusal && error.cause instanceof Error ? error.cause : error
  return (own as Error).message
}
