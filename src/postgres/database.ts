import { Client, Pool, type PoolClient, type QueryResult } from 'pg'
import { DatabaseAway } from '../errors.ts'
import { isLoss, isUncertain, LostConnection, refusalOf } from './errors.ts'
import { setUp } from './session.ts'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** So many connections to the primary are open at most, where nothing else is said. */
const MOST_CONNECTIONS = 8

/** How long a statement may take, in milliseconds, where nothing else is said. */
const STATEMENT = 30_000

/** A statement with its values; one with a name is prepared once a connection. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
  /** Milliseconds; then the connection is given up, and with it whatever is behind it. */
  readonly timeoutMs?: number
}

/** Asks within a transaction. */
export type Ask = <Row = unknown>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/**
 * A database of one host or several, of which one is the primary: what is asked is asked there, wherever that is by now. Of two that say they are,
 * which happens where the one that was replaced lives on, it is the one that was promoted later.
 */
export class Database {
  readonly #urls: readonly string[]
  readonly #isFenced: boolean
  readonly #connections: number
  #pool: Pool | undefined
  #finding: Promise<Pool> | undefined
  /** Aborted at the end. */
  readonly #ending = new AbortController()

  /**
   * With `isFenced`, a host that cannot commit, because its standbys have gone to another primary, is none. So many connections are open at
   * most.
   */
  constructor(urls: readonly string[], isFenced = false, connections = MOST_CONNECTIONS) {
    this.#urls = urls
    this.#connections = connections
    this.#isFenced = isFenced
  }

  /**
   * The rows of a statement that may be done twice: where the connection breaks it is done again. Refuses with `storage_unavailable` where
   * no primary can be found in time.
   */
  async query<Row>(statement: Statement): Promise<readonly Row[]> {
    const deadline = Date.now() + PATIENCE
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
   * The same, done once. Throws `LostConnection` where the connection broke, or the answer is none: whether it was done nobody knows.
   * (Where no primary is found it was not: that is a refusal.)
   */
  async queryOnce<Row>({ text, values, name, timeoutMs = STATEMENT }: Statement): Promise<readonly Row[]> {
    return this.#using(async (client) => {
      // Of several statements without values the first one's rows.
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
   * Does the work in one transaction, begun as `begin` says; again where the connection breaks before its end, or a question takes longer than
   * `timeoutMs`.
   */
  async transaction<T>(begin: string, work: (ask: Ask) => Promise<T>, timeoutMs?: number): Promise<T> {
    const deadline = Date.now() + PATIENCE
    for (;;) {
      try {
        return await this.#using((client) => inTransaction(client, begin, work, timeoutMs))
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        if (Date.now() > deadline) throw error
      }
    }
  }

  /** A connection of its own to the primary, for who listens. Throws LostConnection where it cannot be had. */
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
      connectionTimeoutMillis: CONNECT,
      keepAlive: true,
      application_name: 'branchpoint',
      onConnect: setUp,
    })
    pool.on('error', () => this.#lose(pool))
    // Whoever uses it is told by what it asked.
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

/** How long (milliseconds) a primary is looked for before whoever waits is refused. */
const PATIENCE = 10_000
/** … and between two questions to a host … */
const BETWEEN = 100
/** … and a host may take to be connected to, and to answer. */
export const CONNECT = 2_000

/** How long (milliseconds) hosts that have not answered yet are waited for once one says that it is a primary. */
const GRACE = 300

/** Where a primary is looked for, and how. */
interface PrimarySearch {
  readonly urls: readonly string[]
  /** Whether a host that cannot commit is none. */
  readonly isFenced: boolean
  /** Ends it, and every connection it has open. */
  readonly signal: AbortSignal
  /** Called with a host that was promoted later than the one that was taken, and said so afterwards. */
  readonly onLater: (url: string) => void
}

/**
 * The host that takes writes; of several that say they do, which happens where a primary that was replaced lives on, the one of the
 * latest timeline. Rejects with the last reason there was where none is found in time.
 *
 * A host that swallows packets takes seconds to be given up, and is not waited for: once one host says it is a primary, the others have
 * a moment to say better. So a primary that was replaced may be taken where the one of now is slower than that. What comes of it:
 * - With `isFenced` and a synchronous standby it is not taken, however slow the other one is: to count as a primary a host commits
 *   something, and the standby that would have to acknowledge that has been promoted and acknowledges nothing.
 * - Without, its reads are stale, as those of any primary are that was replaced and not noticed. That ends when the host of now answers
 *   after all (`onLater`), or with the first write, which a primary without its standby cannot commit. One that waits for no standby takes
 *   writes, and these are lost, as they are for a server that never lost its connection to it: only who promotes can keep it from that.
 */
function findPrimary(search: PrimarySearch): Promise<string> {
  const { urls, isFenced, signal, onLater } = search
  const deadline = Date.now() + PATIENCE
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
      else if (best) grace ??= setTimeout(take, GRACE)
    }
    const isOver = (): boolean => taken !== undefined || signal.aborted || Date.now() > deadline
    const keepAsking = async (url: string): Promise<void> => {
      while (!isOver()) {
        const timeline = await timelineOf(url, isFenced, signal).catch((error: unknown) => {
          why = error
          return undefined
        })
        hear(url, timeline)
        if (!isOver()) await pause(BETWEEN, undefined, { signal }).catch(() => undefined)
      }
    }
    void Promise.all(urls.map(keepAsking)).then(take)
  })
}

interface Primary {
  readonly url: string
  readonly timeline: string
}

/** In hex, of one width. */
const CHECK =
  'select case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline'

const COMMIT = "select pg_logical_emit_message(true, 'branchpoint', '')"

/** The timeline of a host that takes writes: one that was promoted later has a later one. Throws where it cannot be asked. */
async function timelineOf(url: string, isFenced: boolean, signal: AbortSignal): Promise<string | undefined> {
  const socket = new Socket()
  const giveUp = (): void => void socket.destroy(new Error('nobody wants to know any more'))
  signal.addEventListener('abort', giveUp)
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT,
    query_timeout: CONNECT,
    stream: () => socket,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await setUp(client)
    // Of two statements two.
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
