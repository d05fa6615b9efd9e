import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import type {
  AppendedBatch,
  Look,
  Outcome,
  Proposal,
  Reads,
  SharedLog,
  StreamPosition,
} from '../following/shared-log.ts'
import type { Database, Statement } from './database.ts'
import { PostgresTable } from './postgres-table.ts'
import { encodeBatch } from './encode-batch.ts'
import { isOtherPlace, isWorthAnotherTry, LostConnection } from './errors.ts'
import { readPack, stageInParts } from './large-packs.ts'
import {
  countRepositories,
  readEntries,
  readNamed,
  readPurged,
  readSmallPacks,
  readStates,
  readStatesBehind,
  readVersions,
} from './read-log.ts'
import { keepTidy } from './tidy.ts'
import type { Client } from 'pg'

const MAX_ATTEMPTS = 10

/** A look that takes longer (milliseconds) goes to another host, because a primary without its standbys never answers. */
const MAX_LOOK_MS = 3_000
/** The same limit for an append. */
const MAX_APPEND_MS = 5_000

/** The log that servers share in a PostgreSQL database. */
export class PostgresLog implements SharedLog {
  readonly id: string
  readonly stream: string
  readonly documents: PostgresTable
  readonly reads: Reads
  readonly #database: Database
  readonly #notices: Notices
  readonly #stopTidying: () => void
  /** The id of this start of the server, which holds the stream. */
  readonly #holder: string
  readonly #isPassing: boolean
  #n: number
  #taken: Refusal | undefined

  private constructor(database: Database, id: string, reads: Reads, stream: OpenedStream) {
    this.#database = database
    this.#isPassing = stream.isPassing
    this.id = id
    this.reads = reads
    this.stream = stream.id
    this.#holder = stream.holder
    this.#n = stream.n
    this.#notices = new Notices(database, stream.id)
    this.documents = new PostgresTable(database, `server ${stream.id}`)
    this.#stopTidying = keepTidy(database, this.documents)
  }

  /**
   * Takes over the stream of a folder from its holder. A new folder gets a stream that was handed back, or a new one. With `isPassing`, the
   * stream is handed back when the log is closed, because the folder is then removed.
   */
  static async open(
    database: Database,
    id: string,
    reads: Reads,
    stream: string | undefined,
    isPassing = false,
  ): Promise<PostgresLog> {
    const holder = randomUUID()
    const taken = await database.query<{ id: string; n: string }>(
      stream === undefined
        ? { text: `${TAKE} where id = (${HANDED_BACK}) returning id, n`, values: [holder] }
        : { text: `${TAKE} where id = $2 returning id, n`, values: [holder, stream] },
    )
    const made =
      taken[0] ??
      (
        await database.query<{ id: string; n: string }>({
          text: 'insert into branchpoint.streams (holder) values ($1) returning id, n',
          values: [holder],
        })
      )[0]
    if (!made) throw new Error('the database made no stream')
    return new PostgresLog(database, id, reads, { id: made.id, holder, n: Number(made.n), isPassing })
  }

  async append(proposals: readonly Proposal[]): Promise<AppendedBatch> {
    const batch = encodeBatch(proposals)
    // All attempts use the same mark: an attempt that was given up may still be carried out, and is recognised by it.
    const mark = randomBytes(8).toString('hex')
    for (let attempt = 1; ; attempt++) {
      if (this.#taken) throw this.#taken
      const position = { n: this.#n + 1, mark }
      try {
        const [row] = await this.#database.queryOnce<{ outcomes: readonly Outcome[] | null }>({
          name: 'append',
          text: 'select branchpoint.append($1, $2, $3, $4, $5, $6, $7, $8) as outcomes',
          values: [
            ...[this.stream, this.#holder, position.n, position.mark],
            ...[batch.names, batch.repositories, batch.rounds, batch.packed],
          ],
          timeoutMs: MAX_APPEND_MS,
        })
        this.#n = position.n
        this.#notices.send()
        return { position, outcomes: row?.outcomes ?? [] }
      } catch (error) {
        const found = await this.#afterFailure(error, position, proposals.length)
        if (found) return found
        if (attempt === MAX_ATTEMPTS) throw error
        await pause(Math.random() * attempt * 5)
      }
    }
  }

  async look(): Promise<Look> {
    this.#notices.heard = false
    const asked = performance.now()
    const rows = await this.#database.query<StreamRow>({ ...LOOKS[this.reads], timeoutMs: MAX_LOOK_MS })
    return {
      asked,
      era: rows[0]?.era ?? '',
      documents: Number(rows[0]?.documents ?? 0),
      positions: new Map(
        rows.flatMap(({ id, n, mark }) => (id === null ? [] : [[id, { n: Number(n), mark }]])),
      ),
    }
  }

  get hasNews(): boolean {
    return this.#notices.heard
  }

  read: SharedLog['read'] = (from, to) => readEntries(this.#database, from, to)
  readPack: SharedLog['readPack'] = (repository, name) => readPack(this.#database, repository, name)
  smallPacks: SharedLog['smallPacks'] = (repository, names) =>
    readSmallPacks(this.#database, repository, names)
  stagePack: SharedLog['stagePack'] = (name, pieces) => stageInParts(this.#database, name, pieces)
  versions: SharedLog['versions'] = (repositories) => readVersions(this.#database, repositories)
  states: SharedLog['states'] = (repositories) => readStates(this.#database, repositories)
  statesBehind: SharedLog['statesBehind'] = (repository, most) =>
    readStatesBehind(this.#database, repository, most)
  wasPurged: SharedLog['wasPurged'] = (repository) => readPurged(this.#database, repository)
  count: SharedLog['count'] = () => countRepositories(this.#database)
  named: SharedLog['named'] = (project, name) => readNamed(this.#database, project, name)

  /** Finds out what happened to a failed append: its outcome, or undefined if it must be sent again. */
  async #afterFailure(
    error: unknown,
    position: StreamPosition,
    count: number,
  ): Promise<AppendedBatch | undefined> {
    if (isWorthAnotherTry(error)) return undefined
    if (!(error instanceof LostConnection) && !isOtherPlace(error)) throw error
    // Waits for the append if it still runs, and for the standby.
    const [at] = await this.#database.query<StreamState>({
      text:
        `select n, mark, holder, refused from branchpoint.streams where id = ${Number(this.stream)} for update; ` +
        `select pg_logical_emit_message(true, 'branchpoint', '')`,
      timeoutMs: MAX_APPEND_MS,
    })
    if (at?.holder !== this.#holder) throw (this.#taken = taken(this.stream))
    this.#n = Number(at.n)
    if (at.mark !== position.mark) return undefined
    const rows = await this.#database.query<{ item: number; versions: readonly number[] }>({
      text: `select item, jsonb_path_query_array(what, '$.writes[*].version') as versions from branchpoint.journal where stream = $1 and n = $2`,
      values: [this.stream, position.n],
    })
    const outcomes = Array.from(
      { length: count },
      (_, item): Outcome => at.refused[item] ?? { refused: 'moved', what: 'it' },
    )
    for (const { item, versions } of rows) outcomes[item] = { versions }
    return { position, outcomes }
  }

  onNews(listener: () => void): void {
    this.#notices.listen(listener)
  }

  async close(): Promise<void> {
    this.#stopTidying()
    await this.#notices.close()
    const values = [this.stream, this.#holder]
    for (const text of this.#isPassing ? [FORGET, HAND_BACK] : [FORGET])
      await this.#database.queryOnce({ text, values }).catch(() => undefined)
    await this.#database.close()
  }
}

/** The look is one prepared statement. The one for `quorum` commits, whether there are streams or not. */
const POSITIONS = `select id, n, mark, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as era,
  (select coalesce(sum(n), 0) from branchpoint.document_streams) as documents`
const LOOK_AT_PRIMARY = { name: 'look', text: `${POSITIONS} from branchpoint.streams` }
const LOOKS: Readonly<Record<Reads, Statement>> = {
  primary: LOOK_AT_PRIMARY,
  local: LOOK_AT_PRIMARY,
  quorum: {
    name: 'look that commits',
    text: `${POSITIONS} from (select pg_logical_emit_message(true, 'branchpoint', '')) as message left join branchpoint.streams on true`,
  },
}

function taken(stream: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `Another server has taken over the folder of this one (stream ${stream}), or a copy of it. Stop this one, and give each a CACHE_DIR of its own.`,
  )
}

const TAKE = 'update branchpoint.streams set holder = $1, beat = now()'

/** The stream of a server that has written nothing can be deleted. */
const FORGET = 'delete from branchpoint.streams where id = $1 and holder = $2 and n = 0'

/** The holder of streams that were handed back. */
const NOBODY = "'00000000-0000-0000-0000-000000000000'::uuid"

/**
 * A stream that ends is handed back for the next new folder, and its numbers go on. It cannot be deleted: folders learn from its row that it
 * has entries, and a folder that was away for a long time may not have read them yet. A late append of the old holder is refused, because the
 * holder differs.
 */
const HAND_BACK = `update branchpoint.streams set holder = ${NOBODY} where id = $1 and holder = $2`

const HANDED_BACK = `select id from branchpoint.streams where holder = ${NOBODY} order by id limit 1 for update skip locked`

interface OpenedStream {
  readonly id: string
  readonly holder: string
  readonly n: number
  readonly isPassing: boolean
}

interface StreamState {
  readonly n: string
  readonly mark: string
  readonly holder: string
  /** The refusals of the last batch, by item number. */
  readonly refused: Readonly<Record<number, Outcome>>
}

/** If there are no streams, the row has only the era and the documents. */
interface StreamRow {
  readonly id: string | null
  readonly n: string
  readonly mark: string
  readonly era: string
  readonly documents: string
}

const MIN_MS_BETWEEN_HINTS = 5

const MS_BEFORE_RECONNECT = 500

/**
 * Hints to other servers that something was appended. They are sent after the answer, in separate statements, because a transaction with
 * NOTIFY locks the whole database while it commits. Hints may be lost; nothing depends on them.
 */
class Notices {
  readonly #database: Database
  readonly #stream: string
  readonly #listeners = new Set<() => void>()
  /** Whether a hint came since this was last set to false; true while not listening. */
  heard = true
  #timer: NodeJS.Timeout | undefined
  #client: Client | undefined
  #listening: Promise<void> | undefined
  #isClosed = false

  constructor(database: Database, stream: string) {
    this.#database = database
    this.#stream = stream
  }

  /** Hints to the other servers that this one has appended something. */
  send(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#isClosed) return
      const told = this.#database.queryOnce({
        name: 'notify',
        text: `select pg_notify('branchpoint', $1)`,
        values: [this.#stream],
      })
      told.catch(() => undefined) // the other servers also look without hints
    }, MIN_MS_BETWEEN_HINTS).unref()
  }

  /** Calls the listener for each hint of another server. */
  listen(listener: () => void): void {
    this.#listeners.add(listener)
    this.#listening ??= this.#keepListening()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#client?.end().catch(() => undefined)
    await this.#listening
  }

  async #keepListening(): Promise<void> {
    while (!this.#isClosed) {
      await this.#listenOnce().catch(() => undefined)
      this.heard = true
      if (!this.#isClosed) await pause(MS_BEFORE_RECONNECT, undefined, { ref: false })
    }
  }

  /** Listens until the connection ends. */
  async #listenOnce(): Promise<void> {
    const client = await this.#database.listener()
    this.#client = client
    const over = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('notification', ({ payload }) => {
      if (payload === this.#stream) return
      this.heard = true
      for (const listener of this.#listeners) listener()
    })
    if (this.#isClosed) await client.end()
    else await client.query('listen branchpoint')
    await over
  }
}
