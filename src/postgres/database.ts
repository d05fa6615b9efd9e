import { Client, Pool, type PoolClient, type QueryResult } from 'pg'
import { DatabaseAway } from '../errors.ts'
import { isLoss, isUncertain, LostConnection, refusalOf } from './errors.ts'
import { CONNECT, findPrimary, PATIENCE } from './find-primary.ts'
import { setUp } from './session.ts'

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
