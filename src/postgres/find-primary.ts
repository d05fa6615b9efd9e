import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type QueryResult } from 'pg'
import { setUp } from './session.ts'

/** How long (milliseconds) a primary is looked for before whoever waits is refused. */
export const PATIENCE = 10_000
/** … and between two questions to a host … */
const BETWEEN = 100
/** … and a host may take to be connected to, and to answer. */
export const CONNECT = 2_000

/** How long (milliseconds) hosts that have not answered yet are waited for once one says that it is a primary. */
const GRACE = 300

/** Where a primary is looked for, and how. */
export interface PrimarySearch {
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
export function findPrimary(search: PrimarySearch): Promise<string> {
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
