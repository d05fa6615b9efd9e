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
} from '../../storage/documents/document-table.ts'
import { isWorthAnotherTry, LostConnection } from '../errors.ts'
import * as sql from './document-sql.ts'

/** A statement with its values; it is prepared once a connection. */
export interface DocumentStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What is asked of the database: rows of a statement. */
export interface DocumentDatabase {
  /** Does it again where the connection breaks: it may be done twice. */
  query<Row>(statement: DocumentStatement): Promise<readonly Row[]>
  /** Does it once; where that rejects, it may have been done. */
  queryOnce<Row>(statement: DocumentStatement): Promise<readonly Row[]>
}

/** How long it is remembered what changed, in milliseconds: who was away for longer compares everything. */
const REMEMBERED = 60 * 60 * 1000

/** How often a batch is sent that was not carried out for a reason that is over. */
const ATTEMPTS = 10

/** So many changes, or bytes, are made in one transaction at most. */
const MOST_TOGETHER = 200
const MOST_BYTES = 8 * 1024 * 1024

/**
 * Documents in PostgreSQL. Changes of one server that wait together are made in one transaction, each of them or not; what was made is in its
 * stream, whose numbers say what another server lacks. Versions are of a sequence, leases by the clock of the database.
 */
export class PostgresTable implements DocumentTable, TableFeed {
  readonly table = this
  readonly #database: DocumentDatabase
  readonly #stream: string
  readonly #waiting: Waiting[] = []
  #isAtWork = false
  /** That of the last call that was carried out. */
  #mark = ''
  /** How far this server has read each stream. */
  #read = new Map<string, number>()

  /** `stream` is this server's, and no other living one has it. */
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

  /** What is new from here on, `entries` answers. */
  async summaries(): Promise<readonly DocumentSummary[]> {
    await this.#ask('begin', sql.BEGIN_STREAM, [this.#stream])
    if (!this.#isAtWork) this.#mark = await this.#markThere()
    const positions = await this.#positions()
    const rows = await this.#ask<{ path: string; version: string; digest: string }>('all', sql.SUMMARIES, [])
    this.#read = new Map(positions.map(({ stream, n }) => [stream, n]))
    return rows.map(({ path, version, digest }) => ({ path, version: Number(version), digest }))
  }

  /**
   * What changed since the call before, by this server and the others, in any order; undefined where that is not known any more, and
   * everything has to be compared. One call at a time.
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

  /** Forgets what changed longer ago than so many milliseconds: who has not read it by then compares everything. */
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

  abandonedLeases(): Promise<readonly { readonly name: string; readonly note: string }[]> {
    return this.#ask('abandoned', sql.ABANDONED, [])
  }

  async tidy(): Promise<void> {
    await this.trim(REMEMBERED)
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

  /** Makes the changes of a batch once, also where the answer is lost. Rejects where it cannot be found out what became of them. */
  async #change(batch: readonly Waiting[]): Promise<readonly DocumentOutcome[]> {
    const mark = randomUUID()
    const values = [this.#stream, this.#mark, mark, ...columnsOf(batch)]
    for (let attempt = 1; ; attempt++) {
      try {
        const statement = { name: 'documents_change', text: sql.CHANGE, values }
        const rows = await this.#database.queryOnce<OutcomeRow>(statement)
        this.#mark = mark
        return rows.map(outcomeOf)
      } catch (error) {
        const there = await this.#markThere()
        if (there === mark) return await this.#outcomesOf(batch, mark)
        this.#mark = there
        if (attempt === ATTEMPTS || there !== values[1] || !mayBeSentAgain(error)) throw error
      }
    }
  }

  async #markThere(): Promise<string> {
    return (await this.#ask<{ mark: string }>('mark', sql.MARK, [this.#stream]))[0]?.mark ?? ''
  }

  /** What became of a batch of which only its mark is known: what was not made was refused. */
  async #outcomesOf(batch: readonly Waiting[], mark: string): Promise<readonly DocumentOutcome[]> {
    const made = await this.#ask<{ item: number; version: string }>('made', sql.MADE, [this.#stream, mark])
    this.#mark = mark
    const versions = new Map(made.map(({ item, version }) => [item, Number(version)]))
    return batch.map(({ change }, at): DocumentOutcome => {
      const version = versions.get(at + 1)
      // What it was made on is not told: who has a copy reads it anew.
      if (version !== undefined) return { kind: 'done', version, before: version - 1 }
      return { kind: change.expected === undefined ? 'lost' : 'moved' }
    })
  }

  /** Those that wait, sorted by path, so that no two servers wait for each other; those of one path stay in their order. */
  #nextBatch(): readonly Waiting[] {
    let bytes = 0
    let count = 0
    for (const { change } of this.#waiting) {
      bytes += change.bytes?.length ?? 0
      if (count === MOST_TOGETHER || (count > 0 && bytes > MOST_BYTES)) break
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

/** Numbers of eight bytes come as text. */
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
    // In one piece: many are sent as text, twice as long.
    Buffer.concat(batch.map(({ change: { bytes } }) => bytes ?? EMPTY)),
    of(({ bytes }) => bytes?.length ?? 0),
    of(({ mode }) => mode ?? null),
    of(({ expected }) => expected ?? null),
    of(({ lease }) => lease?.name ?? null),
    of(({ lease }) => lease?.token ?? null),
  ]
}

/** Whether a batch was undone, or not begun, for a reason that is over. */
function mayBeSentAgain(error: unknown): boolean {
  return error instanceof LostConnection || isWorthAnotherTry(error)
}
