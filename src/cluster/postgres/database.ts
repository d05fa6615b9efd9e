import { Client, Pool, type PoolClient, type QueryResult } from 'pg'
import { DatabaseAway } from '../../errors.ts'
import { isLoss, isUncertain, LostConnection, refusalOf } from './errors.ts'
import { setUp } from './session.ts'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const MAX_CONNECTIONS = 8

/** The default time limit of a statement, in milliseconds. */
const DEFAULT_STATEMENT_MS = 30_000

/** A statement with its values. A named statement is prepared once per connection. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
  /** In milliseconds. After it the connection is closed, and so is the work on it. */
  readonly timeoutMs?: number
}

/** Runs a statement in a transaction. */
export type Ask = <Row = unknown>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/**
 * A database on one or several hosts. Statements go to the current primary. If two hosts claim to be the primary, because an old one still
 * runs, the one that was promoted later is used.
 */
export class Database {
  readonly #urls: readonly string[]
  readonly #isFenced: boolean
  readonly #connections: number
  #pool: Pool | undefined
  #finding: Promise<Pool> | undefined
  /** Aborted by `close`. */
  readonly #ending = new AbortController()

  /**
   * With `isFenced`, a host that cannot commit, because its standbys follow another primary, does not count as primary. `connections` is the
   * maximum that is open at once.
   */
  constructor(urls: readonly string[], isFenced = false, connections = MAX_CONNECTIONS) {
    this.#urls = urls
    this.#connections = connections
    this.#isFenced = isFenced
  }

  /**
   * The rows of a statement that may safely run twice: it is repeated if the connection breaks. Throws a Refusal with `storage_unavailable`
   * if no primary is found in time.
   */
  async query<Row>(statement: Statement): Promise<readonly Row[]> {
    const deadline = Date.now() + MAX_SEARCH_MS
    for (;;) {
      try {
        return await this.queryOnce<Row>(statement)
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        if (Date.now() > deadline) throw error
      }
    }
  }

  /**
   * Runs a statement once. Throws `LostConnection` if it is unknown whether it was carried out. If no primary is found, it was not, and a
   * Refusal is thrown.
   */
  async queryOnce<Row>({
    text,
    values,
    name,
    timeoutMs = DEFAULT_STATEMENT_MS,
  }: Statement): Promise<readonly Row[]> {
    return this.#using(async (client) => {
      // Several statements without values give several results; the first one's rows are answered.
      const result = (await client.query({
        text,
        ...(values ? { values: [...values] } : {}),
        ...(name === undefined ? {} : { name }),
        query_timeout: timeoutMs,
      } as object & { text: string })) as unknown as QueryResult | QueryResult[]
      return (Array.isArray(result) ? (result[0]?.rows ?? []) : result.rows) as Row[]
    })
  }

  /**
   * Runs work in a transaction that starts with `begin`. Repeats it if the connection breaks, or a statement takes longer than `timeoutMs`.
   */
  async transaction<T>(begin: string, work: (ask: Ask) => Promise<T>, timeoutMs?: number): Promise<T> {
    const deadline = Date.now() + MAX_SEARCH_MS
    for (;;) {
      try {
        return await this.#using((client) => inTransaction(client, begin, work, timeoutMs))
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        if (Date.now() > deadline) throw error
      }
    }
  }

  /** A separate connection to the primary, for LISTEN. Throws LostConnection if there is none. */
  async listener(): Promise<Client> {
    const pool = await this.#primary()
    const client = new Client({ ...pool.options })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await setUp(client)
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw new LostConnection(error)
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#finding?.catch(() => undefined)
    await this.#pool?.end().catch(() => undefined)
    this.#pool = undefined
  }

  async #using<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const pool = await this.#primary()
    let client: PoolClient | undefined
    let uncertain: unknown
    const onNotice = (notice: Parameters<typeof isUncertain>[0]): void => {
      if (isUncertain(notice)) uncertain = notice
    }
    try {
      client = await pool.connect()
      client.on('notice', onNotice)
      const answer = await work(client)
      if (uncertain) throw new LostConnection(uncertain)
      client.off('notice', onNotice)
      client.release()
      return answer
    } catch (error) {
      client?.off('notice', onNotice)
      const isLost = error instanceof LostConnection || isLoss(error)
      client?.release(isLost)
      if (!isLost) throw refusalOf(error)
      this.#lose(pool)
      throw error instanceof LostConnection ? error : new LostConnection(error)
    }
  }

  #primary(): Promise<Pool> {
    if (this.#pool) return Promise.resolve(this.#pool)
    return (this.#finding ??= this.#find().finally(() => (this.#finding = undefined)))
  }

  async #find(): Promise<Pool> {
    let pool: Pool | undefined
    const search = {
      urls: this.#urls,
      isFenced: this.#isFenced,
      signal: this.#ending.signal,
      onLater: (url: string) => {
        if (!pool || this.#pool !== pool) return
        this.#lose(pool)
        this.#open(url)
      },
    }
    try {
      return (pool = this.#open(await findPrimary(search)))
    } catch (error) {
      throw new DatabaseAway(error instanceof Error ? error.message : 'no host takes writes')
    }
  }

  #open(url: string): Pool {
    const pool = new Pool({
      connectionString: url,
      max: this.#connections,
      connectionTimeoutMillis: MAX_CONNECT_MS,
      keepAlive: true,
      application_name: 'branchpoint',
      onConnect: setUp,
    })
    pool.on('error', () => this.#lose(pool))
    // The statement that uses the connection reports the error.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return (this.#pool = pool)
  }

  #lose(pool: Pool): void {
    if (this.#pool !== pool) return
    this.#pool = undefined
    void pool.end().catch(() => undefined)
  }
}

async function inTransaction<T>(
  client: PoolClient,
  begin: string,
  work: (ask: Ask) => Promise<T>,
  timeoutMs: number | undefined,
): Promise<T> {
  const query = (text: string, values?: readonly unknown[]): Promise<QueryResult> =>
    client.query({
      text,
      ...(values ? { values: [...values] } : {}),
      ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }),
    })
  await query(begin)
  try {
    const answer = await work(async (text, values) => (await query(text, values)).rows)
    await query('commit')
    return answer
  } catch (error) {
    if (!isLoss(error)) await query('rollback')
    throw error
  }
}

const MAX_SEARCH_MS = 10_000
/** The pause (milliseconds) between two attempts at a host. */
const MS_BETWEEN_ATTEMPTS = 100
/** How long (milliseconds) a host may take to connect, and to answer. */
export const MAX_CONNECT_MS = 2_000

/** How long (milliseconds) to wait for other hosts once one says that it is a primary. */
const GRACE_MS = 300

interface PrimarySearch {
  readonly urls: readonly string[]
  /** Whether a host must be able to commit. */
  readonly isFenced: boolean
  /** Ends the search and its connections. */
  readonly signal: AbortSignal
  /** Called with a host that answers after the search and was promoted later than the chosen one. */
  readonly onLater: (url: string) => void
}

/**
 * Finds the host that takes writes; of several, for example when an old primary still runs, the one with the latest timeline. Rejects with
 * the last error if none is found in time.
 *
 * A host that drops packets takes seconds to give up on. So once one host answers as primary, the others have only a moment to answer better.
 * An old primary may therefore be chosen if the new one is slower. What happens then:
 * - With `isFenced` and a synchronous standby it is not chosen, however slow the new one is: the check commits something, and the standby
 * that would acknowledge that has been promoted.
 * - Otherwise its reads are stale, until the new host answers (`onLater`), or until the first write, which a primary without its standby
 * cannot commit. A primary that waits for no standby takes writes, and these are lost. Only the software that promotes hosts can prevent
 * this.
 */
function findPrimary(search: PrimarySearch): Promise<string> {
  const { urls, isFenced, signal, onLater } = search
  const deadline = Date.now() + MAX_SEARCH_MS
  return new Promise((resolve, reject) => {
    const silent = new Set(urls)
    let best: Primary | undefined
    let taken: Primary | undefined
    let grace: NodeJS.Timeout | undefined
    let why: unknown = new Error('no host takes writes')

    const take = (): void => {
      clearTimeout(grace)
      taken ??= best
      if (taken) resolve(taken.url)
      else reject(why)
    }
    const hear = (url: string, timeline: string | undefined): void => {
      silent.delete(url)
      if (timeline !== undefined) {
        if (taken && timeline > taken.timeline && !signal.aborted) onLater(url)
        if (!best || timeline > best.timeline) best = { url, timeline }
      }
      if (best && silent.size === 0) take()
      else if (best) grace ??= setTimeout(take, GRACE_MS)
    }
    const isOver = (): boolean => taken !== undefined || signal.aborted || Date.now() > deadline
    const keepAsking = async (url: string): Promise<void> => {
      while (!isOver()) {
        const timeline = await timelineOf(url, isFenced, signal).catch((error: unknown) => {
          why = error
          return undefined
        })
        hear(url, timeline)
        if (!isOver()) await pause(MS_BETWEEN_ATTEMPTS, undefined, { signal }).catch(() => undefined)
      }
    }
    void Promise.all(urls.map(keepAsking)).then(take)
  })
}

interface Primary {
  readonly url: string
  readonly timeline: string
}

/** The timeline in hexadecimal, of fixed width. */
const CHECK =
  'select case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline'

const COMMIT = "select pg_logical_emit_message(true, 'branchpoint', '')"

/**
 * The timeline of a host that takes writes; a later promotion has a later one. Undefined for other hosts. Throws if the host cannot be asked.
 */
async function timelineOf(url: string, isFenced: boolean, signal: AbortSignal): Promise<string | undefined> {
  const socket = new Socket()
  const giveUp = (): void => void socket.destroy(new Error('nobody wants to know any more'))
  signal.addEventListener('abort', giveUp)
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: MAX_CONNECT_MS,
    query_timeout: MAX_CONNECT_MS,
    stream: () => socket,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await setUp(client)
    // Two statements give two results.
    const result = (await client.query<{ timeline: string | null }>(
      isFenced ? `${CHECK}; ${COMMIT}` : CHECK,
    )) as QueryResult | QueryResult[]
    const [first] = Array.isArray(result) ? result : [result]
    return first?.rows[0]?.timeline ?? undefined
  } finally {
    await client.end().catch(() => undefined)
    signal.removeEventListener('abort', giveUp)
  }
}
