import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/object.ts'
import { keysOf } from '../../json/json.ts'
import type { SentRow } from './sent-row.ts'
import { DEDUP_COLUMN } from './sent-row.ts'
import {
  encodeContent,
  type EncodedContent,
  contentOf,
  decodeRow,
  encodeRow,
  encodeRowMeta,
  generatedDedupId,
} from './stored-row.ts'
import type { CollectedRow } from './testset-payload.ts'

/** How much a testset may hold (ruling 5.6). */
export interface TestsetLimits {
  readonly maxRows: number
  /** Bytes of one row as it is stored. */
  readonly maxRowBytes: number
  readonly maxColumns: number
}

/** Where the blobs of rows go. */
export interface RowSink {
  /** Stores a blob and answers its id. */
  put(bytes: Buffer): Oid
  /** A blob that was put. */
  get(oid: Oid): Promise<Buffer>
}

/**
 * Turns rows that come in one after the other into the rows of a revision: gives each its dedup id, collapses equal ones
 * onto the first (rulings 5.1, 5.2), and writes their blobs.
 */
export class RowCollector {
  readonly #sink: RowSink
  readonly #limits: TestsetLimits
  readonly #rows: (Collected | undefined)[] = []
  readonly #byContent = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  readonly #columns = new Set<string>()
  #count = 0

  constructor(sink: RowSink, limits: TestsetLimits) {
    this.#sink = sink
    this.#limits = limits
  }

  /** Takes a row in; answers a promise in the rare case that another row has to be written again. */
  add(row: SentRow): void | Promise<void> {
    const content = encodeContent(row.content)
    const equal = this.#byContent.get(content.hash)
    const { dedupId } = row
    if (dedupId === undefined) {
      if (equal === undefined)
        this.#put(this.#rows.length, row, content, this.#freeKey(generatedDedupId(content.hash)), true)
      return
    }
    const held = this.#byKey.get(dedupId)
    const holder = held === undefined ? undefined : this.#rows[held]
    if (held !== undefined && holder?.isGenerated && holder.contentHash !== content.hash) {
      // A dedup id that was made up gives way to one that was given.
      return this.#rename(held, holder, dedupId).then(() => this.add(row))
    }
    const equalOne = equal === undefined ? undefined : this.#rows[equal]
    const collapses = equal !== undefined && equal !== held && equalOne?.isGenerated
    if (collapses) this.#remove(equal, equalOne)
    const place = held ?? (collapses ? equal : this.#rows.length)
    if (holder) this.#remove(place, holder)
    this.#put(place, row, content, dedupId, false)
  }

  /** The rows in order, and their columns in order of first appearance. */
  finish(): { readonly rows: readonly CollectedRow[]; readonly columns: readonly string[] } {
    return { rows: this.#rows.filter((row) => row !== undefined), columns: [...this.#columns] }
  }

  #put(place: number, row: SentRow, content: EncodedContent, key: string, isGenerated: boolean): void {
    const oid = this.#store(encodeRow(content, key))
    const meta = row.meta && this.#store(encodeRowMeta(row.meta))
    this.#rows[place] = { oid, meta, key, contentHash: content.hash, isGenerated }
    this.#byKey.set(key, place)
    this.#byContent.set(content.hash, place)
    if (++this.#count > this.#limits.maxRows) {
      throw limitExceeded('rows', this.#limits.maxRows)
    }
    for (const column of keysOf(row.content)) this.#columns.add(column)
    if (row.hasDedupColumn) this.#columns.add(DEDUP_COLUMN)
    if (this.#columns.size > this.#limits.maxColumns) {
      throw limitExceeded('columns', this.#limits.maxColumns)
    }
  }

  #store(bytes: Buffer): Oid {
    if (bytes.length <= this.#limits.maxRowBytes) return this.#sink.put(bytes)
    throw limitExceeded('bytes a row', this.#limits.maxRowBytes)
  }

  #remove(place: number, row: Collected): void {
    this.#rows[place] = undefined
    this.#count--
    this.#byKey.delete(row.key)
    if (this.#byContent.get(row.contentHash) === place) this.#byContent.delete(row.contentHash)
  }

  /** Gives the row another dedup id than `taken`. */
  async #rename(place: number, row: Collected, taken: string): Promise<void> {
    const content = encodeContent(contentOf(decodeRow(await this.#sink.get(row.oid))))
    const key = this.#freeKey(taken)
    this.#byKey.delete(taken)
    this.#byKey.set(key, place)
    this.#rows[place] = { ...row, key, oid: this.#store(encodeRow(content, key)) }
  }

  /** The dedup id, or with `-2`, `-3` … behind it if another row holds it. */
  #freeKey(wanted: string): string {
    let key = wanted
    for (let number = 2; this.#byKey.has(key); number++) key = `${wanted}-${number}`
    return key
  }
}

interface Collected extends CollectedRow {
  readonly isGenerated: boolean
}

/** Refuses what is past a limit of the service (ruling 5.6): `limitExceeded('rows', 1000000)`. */
export function limitExceeded(what: string, limit: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `A testset holds at most ${limit} ${what}, and this would be more. Split it, or ask the operator for a higher limit.`,
    { details: { limit } },
  )
}
