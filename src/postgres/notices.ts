import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Database } from './database.ts'

/** Hints are sent so often (milliseconds) at most. */
const EVERY = 5

/** A listener's connection that broke is made again so much later, in milliseconds. */
const AGAIN = 500

/**
 * Hints from server to server that something was appended. They are sent behind the answer, by statements of their own: a transaction that
 * notifies holds a lock of the whole database while it commits. Some are lost, and nothing depends on them.
 */
export class Notices {
  readonly #database: Database
  readonly #stream: string
  readonly #listeners = new Set<() => void>()
  /** Whether there was a hint since somebody set this to false; true while nobody listens. */
  heard = true
  #timer: NodeJS.Timeout | undefined
  #client: Client | undefined
  #listening: Promise<void> | undefined
  #isClosed = false

  constructor(database: Database, stream: string) {
    this.#database = database
    this.#stream = stream
  }

  /** Tells the others that this server has appended something. */
  send(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#isClosed) return
      const told = this.#database.queryOnce({
        name: 'notify',
        text: `select pg_notify('branchpoint', $1)`,
        values: [this.#stream],
      })
      told.catch(() => undefined) // the others look by themselves
    }, EVERY).unref()
  }

  /** Calls the listener at each hint of another server. */
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
      if (!this.#isClosed) await pause(AGAIN, undefined, { ref: false })
    }
  }

  /** Resolves when the connection is over. */
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
