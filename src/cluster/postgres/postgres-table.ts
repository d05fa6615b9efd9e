import { randomUUID } from 'node:crypto'
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
} from '../documents/document-table.ts'
import { isOtherPlace, isWorthAnotherTry, LostConnection } from './errors.ts'
import * as sql from './document-sql.ts'

/** A statement with its values, prepared once per connection. */
export interface DocumentStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs statements in the database. */
export interface DocumentDatabase {
  /** Repeats the statement if the connection breaks, so it may run twice. */
  query<Row>(statement: DocumentStatement): Promise<readonly Row[]>
  /** Runs the statement once. After a rejection it may still have been carried out. */
  queryOnce<Row>(statement: DocumentStatement): Promise<readonly Row[]>
}

/** How long (milliseconds) changes are remembered. A server that was away for longer compares everything. */
const REMEMBERED_MS = 60 * 60 * 1000

const MAX_ATTEMPTS = 10

const MAX_CHANGES_PER_BATCH = 200
const MAX_BYTES_PER_BATCH = 8 * 1024 * 1024

/**
 * Documents in PostgreSQL. Changes of a server that wait together are made in one transaction; each succeeds or fails by itself. Changes are
 * recorded in the server's stream, whose numbers tell what another server lacks. Versions come from a sequence; leases use the database's
 * clock.
 */
export class PostgresTable implements DocumentTable, TableFeed {
  readonly table = this
  readonly #database: DocumentDatabase
  readonly #stream: string
  readonly #waiting: Waiting[] = []
  #isAtWork = false
  #hasBegun = false
  /** The mark of the last call that was carried out. */
  #mark = ''
  /** How far this server has read each stream. */
  #read = new Map<string, number>()

  /** `stream` belongs to this server alone. */
  constructor(database: DocumentDatabase, stream: string) {
    this.#database = database
    this.#stream = stream
  }

  decide(change: DocumentChange): Promise<DocumentOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      if (!this.#isAtWork) void this.#workOff()
    })
  }

  async newerThan(known: ReadonlyMap<string, number>): Promise<readonly DocumentNews[]> {
    const rows = await this.#ask<PartRow>('newer', sql.NEWER, [[...known.keys()], [...known.values()]])
    const found = new Map<string, { path: string; mode: number | undefined; parts: DocumentPart[] }>()
    for (const { path, mode, version, is_whole: isWhole, bytes } of rows) {
      let news = found.get(path)
      if (!news) found.set(path, (news = { path, mode: mode ?? undefined, parts: [] }))
      news.parts.push({ version: Number(version), isWhole, bytes })
    }
    return [...found.values()]
  }

  /** Later changes are answered by `entries`. */
  async summaries(): Promise<readonly DocumentSummary[]> {
    await this.#begin()
    const positions = await this.#positions()
    const rows = await this.#ask<{ path: string; version: string; digest: string }>('all', sql.SUMMARIES, [])
    this.#read = new Map(positions.map(({ stream, n }) => [stream, n]))
    return rows.map(({ path, version, digest }) => ({ path, version: Number(version), digest }))
  }

  /**
   * The changes of all servers since the previous call, in any order. Undefined if they are no longer known, so that everything must be
   * compared. One call at a time.
   */
  async entries(): Promise<readonly DocumentEntry[] | undefined> {
    const behind = (await this.#positions()).filter(({ stream, n }) => n > (this.#read.get(stream) ?? 0))
    if (behind.length === 0) return NONE
    const from = behind.map(({ stream }) => this.#read.get(stream) ?? 0)
    if (behind.some(({ trimmed }, at) => trimmed > (from[at] ?? 0))) return undefined
    const wanted = [behind.map(({ stream }) => stream), from, behind.map(({ n }) => n)]
    const rows = await this.#ask<EntryRow>('entries', sql.ENTRIES, wanted)
    for (const { stream, n } of behind) this.#read.set(stream, n)
    return rows.map(({ path, version, is_removed: isRemoved }) => ({
      path,
      version: Number(version),
      isRemoved,
    }))
  }

  /** Forgets changes older than this. A server that has not read them compares everything. */
  async trim(milliseconds: number): Promise<void> {
    await this.#ask('trim', sql.TRIM, [milliseconds])
  }

  async takeLease(name: string, milliseconds: number, note?: string): Promise<string | undefined> {
    const values = [name, this.#stream, milliseconds, note ?? null]
    return (await this.#ask<{ token: string }>('take', sql.TAKE_LEASE, values))[0]?.token
  }

  async renewLease({ name, token }: HeldLease, milliseconds: number): Promise<boolean> {
    return (await this.#ask('renew', sql.RENEW_LEASE, [name, token, milliseconds])).length > 0
  }

  async dropLease({ name, token }: HeldLease): Promise<void> {
    await this.#ask('drop', sql.DROP_LEASE, [name, token])
  }

  async isLeased(name: string): Promise<boolean> {
    return (await this.#ask('leased', sql.IS_LEASED, [name])).length > 0
  }

  async leased(folder: string): Promise<readonly string[]> {
    const rows = await this.#ask<{ name: string }>('leased_in', sql.LEASED_IN, [`${folder}/`])
    return rows.map(({ name }) => name)
  }

  abandonedLeases(): Promise<readonly { readonly name: string; readonly note: string }[]> {
    return this.#ask('abandoned', sql.ABANDONED, [])
  }

  async tidy(): Promise<void> {
    await this.trim(REMEMBERED_MS)
    await this.#ask('sweep', sql.SWEEP_LEASES, [])
  }

  async #workOff(): Promise<void> {
    this.#isAtWork = true
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch()
      try {
        const outcomes = await this.#change(batch)
        for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at] ?? { kind: 'moved' })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isAtWork = false
  }

  /** Makes the changes of a batch exactly once, even if the answer is lost. Rejects if the outcome cannot be found out. */
  async #change(batch: readonly Waiting[]): Promise<readonly DocumentOutcome[]> {
    await this.#begin()
    const mark = randomUUID()
    const columns = columnsOf(batch)
    for (let attempt = 1; ; attempt++) {
      const previous = this.#mark
      const values = [this.#stream, previous, mark, ...columns]
      try {
        const statement = { name: 'documents_change', text: sql.CHANGE, values }
        const rows = await this.#database.queryOnce<OutcomeRow>(statement)
        this.#mark = mark
        return rows.map(outcomeOf)
      } catch (error) {
        const there = await this.#markThere()
        if (there === mark) return await this.#outcomesOf(batch, mark)
        this.#mark = there
        // If another process has used the stream meanwhile, only a refusal for that reason proves that the batch was not carried out.
        const isKnown = isOtherPlace(error) || (there === previous && mayBeSentAgain(error))
        if (attempt === MAX_ATTEMPTS || !isKnown) throw error
      }
    }
  }

  /** Creates the stream unless it exists. */
  async #begin(): Promise<void> {
    if (this.#hasBegun) return
    await this.#ask('begin', sql.BEGIN_STREAM, [this.#stream])
    this.#mark = await this.#markThere()
    this.#hasBegun = true
  }

  async #markThere(): Promise<string> {
    return (await this.#ask<{ mark: string }>('mark', sql.MARK, [this.#stream]))[0]?.mark ?? ''
  }

  /** The outcomes of a batch whose answer was lost: changes that were not made were refused. */
  async #outcomesOf(batch: readonly Waiting[], mark: string): Promise<readonly DocumentOutcome[]> {
    const made = await this.#ask<{ item: number; version: string }>('made', sql.MADE, [this.#stream, mark])
    this.#mark = mark
    const versions = new Map(made.map(({ item, version }) => [item, Number(version)]))
    return batch.map(({ change }, at): DocumentOutcome => {
      const version = versions.get(at + 1)
      // The true version before is unknown, so a server with a copy reads the document again.
      if (version !== undefined) return { kind: 'done', version, before: version - 1 }
      return { kind: change.expected === undefined ? 'lost' : 'moved' }
    })
  }

  /** The next changes, sorted by path, so that servers do not deadlock. Changes of one path keep their order. */
  #nextBatch(): readonly Waiting[] {
    let bytes = 0
    let count = 0
    for (const { change } of this.#waiting) {
      bytes += change.bytes?.length ?? 0
      if (count === MAX_CHANGES_PER_BATCH || (count > 0 && bytes > MAX_BYTES_PER_BATCH)) break
      count++
    }
    return this.#waiting
      .splice(0, count)
      .sort(({ change: { path: a } }, { change: { path: b } }) => (a < b ? -1 : a > b ? 1 : 0))
  }

  async #positions(): Promise<readonly { stream: string; n: number; trimmed: number }[]> {
    const rows = await this.#ask<{ stream: string; n: string; trimmed: string }>(
      'positions',
      sql.POSITIONS,
      [],
    )
    return rows.map(({ stream, n, trimmed }) => ({ stream, n: Number(n), trimmed: Number(trimmed) }))
  }

  async #ask<Row>(name: string, text: string, values: unknown[]): Promise<readonly Row[]> {
    return this.#database.query<Row>({ name: `documents_${name}`, text, values })
  }
}

interface Waiting {
  readonly change: DocumentChange
  readonly resolve: (outcome: DocumentOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The driver answers 8-byte integers as text. */
interface OutcomeRow {
  readonly outcome: 'done' | 'moved' | 'lost'
  readonly made: string
  readonly made_on: string
}

interface PartRow {
  readonly path: string
  readonly mode: number | null
  readonly version: string
  readonly is_whole: boolean
  readonly bytes: Buffer
}

interface EntryRow {
  readonly path: string
  readonly version: string
  readonly is_removed: boolean
}

const EMPTY = new Uint8Array()

const NONE: readonly DocumentEntry[] = []

function outcomeOf({ outcome, made, made_on: before }: OutcomeRow): DocumentOutcome {
  return outcome === 'done'
    ? { kind: outcome, version: Number(made), before: Number(before) }
    : { kind: outcome }
}

function columnsOf(batch: readonly Waiting[]): unknown[] {
  const of = (value: (change: DocumentChange) => unknown): unknown[] =>
    batch.map(({ change }) => value(change))
  return [
    of(({ path }) => path),
    of(({ kind }) => kind),
    // As one value: an array would be sent as text, twice as long.
    Buffer.concat(batch.map(({ change: { bytes } }) => bytes ?? EMPTY)),
    of(({ bytes }) => bytes?.length ?? 0),
    of(({ mode }) => mode ?? null),
    of(({ expected }) => expected ?? null),
    of(({ lease }) => lease?.name ?? null),
    of(({ lease }) => lease?.token ?? null),
  ]
}

/** Whether a batch was not carried out, for a temporary reason. */
function mayBeSentAgain(error: unknown): boolean {
  return error instanceof LostConnection || isWorthAnotherTry(error)
}
