import { hash } from 'node:crypto'
import { basename, dirname } from 'node:path/posix'
import type {
  DocumentChange,
  DocumentEntry,
  TableFeed,
  DocumentNews,
  DocumentOutcome,
  DocumentPart,
  DocumentSummary,
  DocumentTable,
  HeldLease,
} from '../../../src/cluster/documents/document-table.ts'

interface Row {
  readonly mode: number | undefined
  readonly parts: readonly DocumentPart[]
}

/** What several servers of a test agree through: a table in memory. */
export class MemoryTable implements DocumentTable {
  /** What changed, in the order in which it did. */
  readonly log: DocumentEntry[] = []
  /** How many changes were refused because of another version. */
  conflicts = 0
  readonly #rows = new Map<string, Row>()
  readonly #leases = new Map<
    string,
    { readonly token: string; readonly until: number; readonly note?: string | undefined }
  >()
  readonly #delay: () => Promise<void>
  #version = 0
  #token = 0

  /** `delay` comes before and after each step, as the way there and back does. */
  constructor(delay: () => Promise<void>) {
    this.#delay = delay
  }

  /** Has it hold what another one holds now. */
  copyFrom(other: MemoryTable): void {
    this.log.push(...other.log)
    for (const [path, row] of other.#rows) this.#rows.set(path, row)
    for (const [name, lease] of other.#leases) this.#leases.set(name, lease)
    this.#version = other.#version
    this.#token = other.#token
  }

  content(path: string): Buffer | undefined {
    const row = this.#rows.get(path)
    return row && Buffer.concat(row.parts.map(({ bytes }) => bytes))
  }

  paths(): string[] {
    return [...this.#rows.keys()].sort()
  }

  /** Makes empty documents, as a decision of the log does it. */
  keep(paths: readonly string[]): void {
    for (const path of paths) if (!this.#rows.has(path)) this.#change({ path, kind: 'put' })
  }

  decide(change: DocumentChange): Promise<DocumentOutcome> {
    return this.#remotely(() => this.#change(change))
  }

  newerThan(known: ReadonlyMap<string, number>): Promise<readonly DocumentNews[]> {
    return this.#remotely(() =>
      [...known].flatMap(([path, from]) => {
        const row = this.#rows.get(path)
        const parts = (row?.parts ?? []).filter(({ version }) => version > from)
        return row && parts.length > 0 ? [{ path, mode: row.mode, parts }] : []
      }),
    )
  }

  summaries(): Promise<readonly DocumentSummary[]> {
    return this.#remotely(() =>
      [...this.#rows].map(([path, { parts }]) => ({
        path,
        version: parts.at(-1)?.version ?? 0,
        digest: hash('md5', this.content(path) ?? Buffer.alloc(0)),
      })),
    )
  }

  takeLease(name: string, milliseconds: number, note?: string): Promise<string | undefined> {
    return this.#remotely(() => {
      if (this.#holder(name)) return undefined
      const token = String(++this.#token)
      this.#leases.set(name, { token, until: performance.now() + milliseconds, note })
      return token
    })
  }

  renewLease({ name, token }: HeldLease, milliseconds: number): Promise<boolean> {
    return this.#remotely(() => {
      const lease = this.#leases.get(name)
      if (lease?.token !== token) return false
      this.#leases.set(name, { ...lease, until: performance.now() + milliseconds })
      return true
    })
  }

  dropLease({ name, token }: HeldLease): Promise<void> {
    return this.#remotely(() => {
      if (this.#leases.get(name)?.token === token) this.#leases.delete(name)
    })
  }

  isLeased(name: string): Promise<boolean> {
    return this.#remotely(() => this.#holder(name) !== undefined)
  }

  leased(folder: string): Promise<readonly string[]> {
    return this.#remotely(() =>
      [...this.#leases.keys()]
        .filter((name) => dirname(name) === folder && this.#holder(name) !== undefined)
        .map((name) => basename(name)),
    )
  }

  abandonedLeases(): Promise<readonly { readonly name: string; readonly note: string }[]> {
    return this.#remotely(() =>
      [...this.#leases].flatMap(([name, { note, until }]) =>
        note !== undefined && until <= performance.now() ? [{ name, note }] : [],
      ),
    )
  }

  async tidy(): Promise<void> {
    for (const [name, { note, until }] of this.#leases)
      if (note === undefined && until < performance.now()) this.#leases.delete(name)
  }

  /** What a server has of it. */
  feed(): TableFeed {
    let heard = 0
    const entries = async (): Promise<readonly DocumentEntry[]> => {
      await this.#delay()
      const news = this.log.slice(heard)
      heard = this.log.length
      return news
    }
    return { table: this, entries }
  }

  /** The time of a lease is over. */
  expire(name: string): void {
    const lease = this.#leases.get(name)
    if (lease) this.#leases.set(name, { ...lease, until: performance.now() })
  }

  #holder(name: string): string | undefined {
    const lease = this.#leases.get(name)
    return lease && lease.until > performance.now() ? lease.token : undefined
  }

  #change({ path, kind, bytes = new Uint8Array(), mode, expected, lease }: DocumentChange): DocumentOutcome {
    if (lease && this.#leases.get(lease.name)?.token !== lease.token) return { kind: 'lost' }
    const row = this.#rows.get(path)
    const before = row?.parts.at(-1)?.version ?? 0
    if (expected !== undefined && expected !== before) {
      this.conflicts++
      return { kind: 'moved' }
    }
    const version = ++this.#version
    const part = { version, isWhole: kind === 'put' || !row, bytes: Buffer.from(bytes) }
    if (kind === 'remove') this.#rows.delete(path)
    else if (kind === 'append' && row) this.#rows.set(path, { ...row, parts: [...row.parts, part] })
    else this.#rows.set(path, { mode, parts: [part] })
    this.log.push({ path, version, isRemoved: kind === 'remove' })
    return { kind: 'done', version, before }
  }

  async #remotely<T>(step: () => T): Promise<T> {
    await this.#delay()
    const answer = step()
    await this.#delay()
    return answer
  }
}

/** An empty table, and what servers have of it. */
export function memoryShare(): {
  readonly table: MemoryTable
  server(): TableFeed
} {
  const delay = unevenly()
  const table = new MemoryTable(delay)
  return { table, server: () => table.feed() }
}

/** The way there and back takes so many rounds of the event loop, a different number each time and the same in every run. */
function unevenly(): () => Promise<void> {
  let state = 1
  return async () => {
    state = (state * 48_271) % 0x7fffffff
    for (let rounds = state % 4; rounds > 0; rounds--) await new Promise((resolve) => setImmediate(resolve))
  }
}
