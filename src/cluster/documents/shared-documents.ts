import { Refusal } from '../../errors.ts'
import { Turns } from '../../base/scheduling.ts'
import {
  type Fs,
  LOCK_PATIENCE_MS,
  type AbandonedLease,
  type Changed,
  type Documents,
  type DocumentWriter,
  type HowToLease,
  type HowToPut,
  type Lease,
} from '../../storage/files.ts'
import type {
  DocumentChange,
  DocumentEntry,
  TableFeed,
  DocumentOutcome,
  DocumentTable,
  HeldLease,
} from './document-table.ts'
import { FollowedFolder } from './followed-folder.ts'
import { setTimeout as pause } from 'node:timers/promises'

export interface SharedDocumentsOptions {
  /** The file system of the server's own folder. */
  readonly fs: Fs
  /** The server's own folder; paths relative to it are those of the store. */
  readonly dir: string
  readonly feed: TableFeed
  /** Resolves when everything acknowledged on any server before the call is in the folder: repositories, and, through `follow`, documents. */
  readonly fresh: () => Promise<void>
  /** The duration of a lease that is not extended, in milliseconds. */
  readonly leaseMs?: number
}

/**
 * Documents shared by servers that each have a folder. A table decides every change by comparing versions, and the folders follow. Leases use
 * the table's clock. A write under a lease carries its token, so an expired holder writes nothing.
 */
export class SharedDocuments implements Documents {
  readonly isAlwaysDurable = true
  readonly #dir: string
  readonly #fs: Fs
  readonly #feed: TableFeed
  readonly #table: DocumentTable
  readonly #fresh: () => Promise<void>
  readonly #leaseMs: number
  readonly #folder: FollowedFolder
  readonly #turns = new Turns()
  /** Documents whose copy is older than a known version, or could not be written. */
  readonly #behind = new Set<string>()
  /** The ids of requests to the table that are not answered yet, oldest first. */
  readonly #underWay = new Set<number>()
  #begun = 0

  constructor({ fs, dir, feed, fresh, leaseMs = LEASE_MS }: SharedDocumentsOptions) {
    this.#fs = fs
    this.#dir = dir
    this.#feed = feed
    this.#table = feed.table
    this.#fresh = fresh
    this.#leaseMs = leaseMs
    this.#folder = new FollowedFolder(fs, dir)
  }

  /** Brings the folder up to date, whether it is old, damaged, empty or ahead. Called first, and again later. */
  async open(): Promise<void> {
    for (const path of this.#folder.compare(await this.#table.summaries(), isDocument)) this.#behind.add(path)
    await this.#catchUp()
  }

  /** Brings single documents up to date, without `open`. */
  async fetch(names: readonly string[]): Promise<void> {
    for (const name of names) this.#behind.add(name)
    await this.#catchUp()
  }

  /** Applies the changes of other servers. One call at a time. */
  async follow(): Promise<void> {
    const entries = await this.#feed.entries()
    await (entries ? this.#takeIn(entries) : this.open())
  }

  /** Repeated or late entries have no effect. */
  async #takeIn(entries: readonly DocumentEntry[]): Promise<void> {
    for (const entry of entries)
      if (this.#folder.version(entry.path) < entry.version) this.#behind.add(entry.path)
    for (const entry of entries)
      if (entry.isRemoved) this.#take(entry.path, () => this.#folder.takeRemoval(entry, this.#begun))
    await this.#catchUp()
  }

  async update<T>(
    path: string,
    change: (before: Buffer | undefined) => Changed<T> | Promise<Changed<T>>,
    { mode }: HowToPut = {},
  ): Promise<T> {
    const name = this.#nameOf(path)
    const deadline = performance.now() + LOCK_PATIENCE_MS
    return this.#turns.take(name, async () => {
      for (;;) {
        await this.#lookAfresh()
        const expected = this.#folder.version(name)
        const { bytes, answer } = await change(this.#fs.readFile(path))
        if (!bytes || (await this.#decide({ path: name, kind: 'put', bytes, mode, expected }))) return answer
        if (performance.now() > deadline)
          throw new Refusal(
            'locked',
            `${name} is changed by other servers all the time. Try again in a moment.`,
          )
      }
    })
  }

  async create(path: string, bytes: Uint8Array, { mode }: HowToPut = {}): Promise<boolean> {
    const name = this.#nameOf(path)
    const isFirst = await this.#decide({ path: name, kind: 'put', bytes, mode, expected: 0 })
    if (!isFirst) await this.#lookAfresh()
    return isFirst
  }

  async lease<T>(path: string, work: (lease: Lease) => Promise<T>, { note }: HowToLease = {}): Promise<T> {
    const name = this.#nameOf(path)
    return this.#hold(await awaitLease(this.#table, name, this.#leaseMs, note), work)
  }

  async leaseIfFree<T>(
    path: string,
    work: (lease: Lease) => Promise<T>,
    { note }: Pick<HowToLease, 'note'> = {},
  ): Promise<T | undefined> {
    const lease = await takeLease(this.#table, this.#nameOf(path), this.#leaseMs, note)
    return lease && this.#hold(lease, work)
  }

  async leased(folder: string): Promise<readonly string[]> {
    const names = await this.#table.leased(this.#nameOf(folder))
    await this.#lookAfresh()
    return names
  }

  async abandoned(): Promise<readonly AbandonedLease[]> {
    const leases = await this.#table.abandonedLeases()
    return leases.map(({ name, note }) => ({ path: `${this.#dir}/${name}`, note }))
  }

  async isLeased(path: string): Promise<boolean> {
    const is = await this.#table.isLeased(this.#nameOf(path))
    await this.#lookAfresh()
    return is
  }

  /** Dead servers' decisions are in the table already, and their leases expire. */
  sweepLeases(): Promise<void> {
    return this.#table.tidy()
  }

  put(path: string, bytes: Uint8Array, how?: HowToPut): Promise<void> {
    return this.#writer().put(path, bytes, how)
  }

  append(path: string, bytes: Uint8Array): Promise<void> {
    return this.#writer().append(path, bytes)
  }

  remove(path: string): Promise<void> {
    return this.#writer().remove(path)
  }

  /** When the work begins, everything written by earlier holders is in the folder. */
  async #hold<T>(lease: SharedLease, work: (lease: Lease) => Promise<T>): Promise<T> {
    try {
      await this.#lookAfresh()
      return await work({ signal: lease.signal, abandon: () => lease.abandon(), ...this.#writer(lease) })
    } finally {
      await lease.drop()
    }
  }

  #writer(lease?: SharedLease): DocumentWriter {
    const write = async (path: string, change: Omit<DocumentChange, 'path' | 'lease'>): Promise<void> => {
      await this.#decide({ path: this.#nameOf(path), ...change, lease })
    }
    return {
      put: (path, bytes, { mode } = {}) => write(path, { kind: 'put', bytes, mode }),
      append: (path, bytes) => write(path, { kind: 'append', bytes }),
      remove: (path) => write(path, { kind: 'remove' }),
    }
  }

  /** Makes a change in the table and the folder; false if the document has another version than expected. */
  async #decide(change: DocumentChange & { readonly lease?: SharedLease | undefined }): Promise<boolean> {
    return this.#asking(async () => this.#takeOutcome(change, await this.#table.decide(change)))
  }

  async #takeOutcome(
    { path, kind, bytes, mode, lease }: DocumentChange & { readonly lease?: SharedLease | undefined },
    outcome: DocumentOutcome,
  ): Promise<boolean> {
    if (outcome.kind === 'moved') {
      this.#folder.distrust(path)
      this.#behind.add(path)
      return false
    }
    if (outcome.kind === 'lost') {
      lease?.lose()
      throw new Refusal(
        'locked',
        `This server was not heard of for so long that another one took over what it did ("${lease?.name ?? path}"). Try again.`,
      )
    }
    const { version, before } = outcome
    const part = { version, isWhole: kind === 'put' || before === 0, bytes: bytes ?? EMPTY }
    this.#take(path, () => {
      if (kind === 'remove') this.#folder.takeRemoval({ path, version }, this.#begun)
      else if (!this.#folder.takeChange(path, before, mode, part)) this.#behind.add(path)
    })
    if (this.#behind.has(path)) await this.#catchUp()
    return true
  }

  async #lookAfresh(): Promise<void> {
    await this.#fresh()
    await this.#catchUp()
  }

  /** Reads documents that are missing or outdated in the folder. */
  async #catchUp(): Promise<void> {
    for (let paths = [...this.#behind]; paths.length > 0; paths = [...this.#behind]) {
      for (let at = 0; at < paths.length; at += DOCUMENTS_READ_AT_ONCE)
        await this.#readAnew(paths.slice(at, at + DOCUMENTS_READ_AT_ONCE))
    }
  }

  async #readAnew(paths: readonly string[]): Promise<void> {
    await this.#asking(async () => {
      const known = new Map(paths.map((path) => [path, this.#folder.version(path)]))
      const found = new Map((await this.#table.newerThan(known)).map((news) => [news.path, news]))
      for (const path of paths) {
        // The copy was marked as unknown after this request, which therefore lacks older content.
        if (this.#folder.version(path) < (known.get(path) ?? 0)) continue
        const news = found.get(path)
        this.#behind.delete(path)
        this.#take(path, () => (news ? this.#folder.takeNews(news) : this.#folder.takeAbsence(path)))
      }
    })
  }

  /** Removals are remembered while a request is unanswered, because its answer may be older than they are. */
  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    const number = ++this.#begun
    this.#underWay.add(number)
    try {
      return await ask()
    } finally {
      this.#underWay.delete(number)
      const [oldest = number + 1] = this.#underWay
      this.#folder.forgetRemovals(oldest)
    }
  }

  /** If the disk fails, the decided change is read again from the table before the folder is next used. */
  #take(path: string, step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#folder.distrust(path)
      this.#behind.add(path)
      throw error
    }
  }

  #nameOf(path: string): string {
    if (!path.startsWith(`${this.#dir}/`)) throw new Error(`${path} is not in the store ${this.#dir}`)
    return path.slice(this.#dir.length + 1)
  }
}

const EMPTY = new Uint8Array()

const DOCUMENTS_READ_AT_ONCE = 500

/** The documents of a store; other files are in repositories or belong to the server. */
function isDocument(path: string): boolean {
  return DOCUMENTS.test(path)
}

const DOCUMENTS =
  /^(?:secrets\.key|[^/]+\/(?:(?:keys|sessions|secrets|key-uses|projects|trash-log)\.json|(?:idempotency|evaluations|webhooks)\/.+))$/

/** The duration of a lease that is not extended, in milliseconds. */
const LEASE_MS = 10_000

/** A lease of this process, extended until it is dropped. */
class SharedLease implements HeldLease {
  readonly name: string
  readonly token: string
  readonly #table: DocumentTable
  readonly #milliseconds: number
  readonly #lost = new AbortController()
  /** When another server may take the lease, on the clock of `performance`. */
  #until: number
  #timer: NodeJS.Timeout | undefined
  #isAbandoned = false

  /** `asked` is when the lease was requested; the table's own period began later. */
  constructor(table: DocumentTable, { name, token }: HeldLease, asked: number, milliseconds: number) {
    this.#table = table
    this.name = name
    this.token = token
    this.#milliseconds = milliseconds
    this.#until = asked + milliseconds
    this.#later()
  }

  /** Aborted when another server may have the lease. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Another server has the lease. */
  lose(): void {
    clearTimeout(this.#timer)
    this.#lost.abort()
  }

  /** Lets another server continue the work after `drop`. */
  abandon(): void {
    this.#isAbandoned = true
  }

  /** Returns the lease. If that fails, it expires. */
  async drop(): Promise<void> {
    clearTimeout(this.#timer)
    const giveBack = (): Promise<unknown> =>
      this.#isAbandoned ? this.#table.renewLease(this, 0) : this.#table.dropLease(this)
    if (!this.signal.aborted) await giveBack().catch(() => undefined)
    this.#lost.abort()
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#prolong(), this.#milliseconds / 4).unref()
  }

  async #prolong(): Promise<void> {
    const asked = performance.now()
    // An answer may take long, so the lease ends by the clock.
    const end = setTimeout(() => this.lose(), Math.max(0, this.#until - asked)).unref()
    const isOurs = await this.#table.renewLease(this, this.#milliseconds).catch(() => undefined)
    clearTimeout(end)
    if (this.signal.aborted) return
    if (isOurs) this.#until = asked + this.#milliseconds
    // If the table could not be asked, the lease is held until it expires.
    if (isOurs === false || performance.now() >= this.#until) this.lose()
    else this.#later()
  }
}

/** Takes a lease; undefined if it is held. */
async function takeLease(
  table: DocumentTable,
  name: string,
  milliseconds: number,
  note?: string,
): Promise<SharedLease | undefined> {
  const asked = performance.now()
  const token = await table.takeLease(name, milliseconds, note)
  return token === undefined ? undefined : new SharedLease(table, { name, token }, asked, milliseconds)
}

/** Takes a lease as soon as it is free. Refuses with `locked` if it is held too long. */
async function awaitLease(
  table: DocumentTable,
  name: string,
  milliseconds: number,
  note?: string,
): Promise<SharedLease> {
  const deadline = performance.now() + LOCK_PATIENCE_MS
  for (let wait = 4; ; wait = Math.min(wait * 2, 200)) {
    const lease = await takeLease(table, name, milliseconds, note)
    if (lease) return lease
    if (performance.now() > deadline)
      throw new Refusal('locked', `"${name}" is held by another server. Try again in a moment.`)
    await pause(wait * (0.5 + Math.random()))
  }
}
