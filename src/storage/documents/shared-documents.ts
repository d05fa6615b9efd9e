import { Refusal } from '../../errors.ts'
import { Turns } from '../../scheduling/turns.ts'
import type { Fs } from '../fs.ts'
import { LOCK_PATIENCE_MS } from '../lock-file.ts'
import type {
  DocumentChange,
  DocumentEntry,
  TableFeed,
  DocumentOutcome,
  DocumentTable,
  HeldLease,
} from './document-table.ts'
import type {
  AbandonedLease,
  Changed,
  Documents,
  DocumentWriter,
  HowToLease,
  HowToPut,
  Lease,
} from './documents.ts'
import { FollowedFolder } from './followed-folder.ts'
import { setTimeout as pause } from 'node:timers/promises'

export interface SharedDocumentsOptions {
  /** Of the server's own folder. */
  readonly fs: Fs
  /** That folder: paths below it are those of the store. */
  readonly dir: string
  readonly feed: TableFeed
  /** Resolves once everything that was acknowledged anywhere before the call is in the folder: repositories, and by `follow` documents. */
  readonly fresh: () => Promise<void>
  /** How long a lease lasts whose holder says nothing more, in milliseconds. */
  readonly leaseMs?: number
}

/**
 * Documents of a store that several servers with folders of their own share. A table decides every change, by comparing versions; the folder
 * follows. Leases are by the clock of the table, and what is written with one carries its token: who comes late writes nothing.
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
  /** Documents of which the folder does not have what was told, or which could not be put there. */
  readonly #behind = new Set<string>()
  /** What is asked of the table and not answered yet, numbered in the order in which it began. */
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

  /** Brings a folder that may be old, torn, empty or ahead to what there is now: before anything else is asked of this, and later. */
  async open(): Promise<void> {
    for (const path of this.#folder.compare(await this.#table.summaries(), isDocument)) this.#behind.add(path)
    await this.#catchUp()
  }

  /** Brings some documents to what there is now, for who opened nothing. */
  async fetch(names: readonly string[]): Promise<void> {
    for (const name of names) this.#behind.add(name)
    await this.#catchUp()
  }

  /** Takes in what other servers changed. One call at a time. */
  async follow(): Promise<void> {
    const entries = await this.#feed.entries()
    await (entries ? this.#takeIn(entries) : this.open())
  }

  /** Told twice, or late, it does nothing. */
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

  /** What dead servers decided is there already, and their leases end by the clock. */
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

  /** What holders before did is in the folder when the work begins. */
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

  /** Makes a change and takes it into the folder; false where the document has another version than expected. */
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

  /** Reads what is missing in the folder, or not known to be right. */
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
        // It was found to be wrong since that was asked: this tells only what is newer than it was.
        if (this.#folder.version(path) < (known.get(path) ?? 0)) continue
        const news = found.get(path)
        this.#behind.delete(path)
        this.#take(path, () => (news ? this.#folder.takeNews(news) : this.#folder.takeAbsence(path)))
      }
    })
  }

  /** While an answer is awaited, removals are remembered: it may be of before. */
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

  /** Where the disk fails in the midst of it, what is decided is decided: it is read anew before the folder is read the next time. */
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

/** Where in a store documents are; what else lies there is in repositories, or the server's own. */
function isDocument(path: string): boolean {
  return DOCUMENTS.test(path)
}

const DOCUMENTS =
  /^(?:secrets\.key|[^/]+\/(?:(?:keys|sessions|secrets|key-uses)\.json|(?:idempotency|evaluations|webhooks)\/.+))$/

/** So long a lease lasts whose holder says nothing more, in milliseconds. */
const LEASE_MS = 10_000

/** A lease of this process, which is prolonged until it is dropped. */
class SharedLease implements HeldLease {
  readonly name: string
  readonly token: string
  readonly #table: DocumentTable
  readonly #milliseconds: number
  readonly #lost = new AbortController()
  /** From when on somebody else may have it, on the clock of `performance`. */
  #until: number
  #timer: NodeJS.Timeout | undefined
  #isAbandoned = false

  /** `asked` is when it was asked for: what the other side counts began later. */
  constructor(table: DocumentTable, { name, token }: HeldLease, asked: number, milliseconds: number) {
    this.#table = table
    this.name = name
    this.token = token
    this.#milliseconds = milliseconds
    this.#until = asked + milliseconds
    this.#later()
  }

  /** Aborted when somebody else may have it. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** It is somebody else's. */
  lose(): void {
    clearTimeout(this.#timer)
    this.#lost.abort()
  }

  /** Somebody else is to go on when it is dropped. */
  abandon(): void {
    this.#isAbandoned = true
  }

  /** Gives it back. Where that cannot be said, it ends by itself. */
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
    // No answer may come for a long time.
    const end = setTimeout(() => this.lose(), Math.max(0, this.#until - asked)).unref()
    const isOurs = await this.#table.renewLease(this, this.#milliseconds).catch(() => undefined)
    clearTimeout(end)
    if (this.signal.aborted) return
    if (isOurs) this.#until = asked + this.#milliseconds
    // Where nothing could be asked, it is ours until its time is over.
    if (isOurs === false || performance.now() >= this.#until) this.lose()
    else this.#later()
  }
}

/** Takes a lease; undefined where somebody has it. */
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

/** Takes a lease once nobody has it. Refuses with `locked` if somebody keeps it too long. */
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
