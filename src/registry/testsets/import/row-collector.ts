import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'
import { keysOf } from '../../../base/json.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { InputRow } from './input-row.ts'
import { DEDUP_COLUMN } from './input-row.ts'
import {
  encodeContent,
  type EncodedContent,
  contentOf,
  decodeRow,
  encodeRow,
  encodeRowMeta,
  generatedDedupId,
} from '../rows/stored-row.ts'
import type { MetRows } from '../../payload/family.ts'
import type { CollectedRow } from '../testset-payload.ts'

/** Limits of a testset (interface 8.27). */
export interface TestsetLimits {
  readonly maxRows: number
  /** Maximum bytes of a stored row. */
  readonly maxRowBytes: number
  readonly maxColumns: number
}

/** Stores the blobs of rows. */
export interface RowSink {
  /** Stores a blob and answers its id. */
  put(bytes: Buffer): Oid
  /** Reads a stored blob. */
  get(oid: Oid): Promise<Buffer>
}

/** Received rows in the form of a revision. */
export interface CollectedRows {
  readonly rows: readonly CollectedRow[]
  readonly columns: readonly string[]
  readonly met: MetRows
}

/** Maximum received rows, as a multiple of a testset's: a small compressed file may have tens of millions of equal rows. */
const EQUAL_ROWS = 4

/**
 * Converts received rows to the rows of a revision: gives each its dedup id, collapses equal ones into the first (interface 8.3, 8.5), and
 * writes their blobs. It collapses at the end, because a later row with the same dedup id may still replace one.
 */
export class RowCollector {
  readonly #sink: RowSink
  readonly #limits: TestsetLimits
  readonly #rows: (CollectedRow | undefined)[] = []
  /** The indexes of rows that came with a dedup id (in the end all rows), and of the others by their content. */
  readonly #given = new Map<string, number>()
  readonly #nameless = new Map<string, number>()
  readonly #columns = new Set<string>()
  /** The number of received rows, with those that collapsed. */
  #taken = 0
  #collapsed = 0
  #replaced = 0

  constructor(sink: RowSink, limits: TestsetLimits) {
    this.#sink = sink
    this.#limits = limits
  }

  /** Adds columns that rows may have. */
  addColumns(columns: readonly string[]): void {
    for (const column of columns) this.#columns.add(column)
  }

  /** Adds a row. Equal rows count as one, but reading them takes time, so their number is limited to a multiple of the testset's limit. */
  add(row: InputRow): void {
    const most = EQUAL_ROWS * this.#limits.maxRows
    if (++this.#taken > most) throw limitExceeded('rows, equal ones included', most)
    const content = encodeContent(row.content)
    const { dedupId } = row
    if (dedupId === undefined) {
      if (this.#nameless.has(content.hash)) {
        this.#collapsed++
        return
      }
      this.#nameless.set(content.hash, this.#rows.length)
      this.#put(this.#rows.length, row, content, generatedDedupId(content.hash))
    } else {
      const place = this.#given.get(dedupId) ?? this.#rows.length
      const before = this.#rows[place]
      this.#given.set(dedupId, place)
      this.#put(place, row, content, dedupId)
      if (before) this.#countMet(before, this.#rows[place])
    }
  }

  /** The rows in order, their columns by first appearance, and what happened to received rows that are not among them. */
  async finish(slice: TimeSlice): Promise<CollectedRows> {
    await this.#collapse(slice)
    await this.#nameRows(slice)
    const rows: CollectedRow[] = []
    await slice.each(this.#rows, (row) => row && rows.push(row))
    this.#checkCount(rows.length)
    const met = { collapsed: this.#collapsed, replaced: this.#replaced }
    return { rows, columns: [...this.#columns], met }
  }

  #put(place: number, row: InputRow, content: EncodedContent, key: string): void {
    const oid = this.#store(encodeRow(content, key))
    const meta = row.meta && this.#store(encodeRowMeta(row.meta))
    this.#rows[place] = { oid, meta, key, contentHash: content.hash }
    // No more rows than these can collapse, so the rest is already too many.
    this.#checkCount(Math.max(this.#given.size, this.#nameless.size))
    for (const column of keysOf(row.content)) this.#columns.add(column)
    if (row.hasDedupColumn) this.#columns.add(DEDUP_COLUMN)
    if (this.#columns.size > this.#limits.maxColumns) {
      throw limitExceeded('columns', this.#limits.maxColumns)
    }
  }

  /** Counts a row that replaced one with its dedup id. */
  #countMet(before: CollectedRow, now: CollectedRow | undefined): void {
    const isEqual = before.oid === now?.oid && before.meta === now.meta
    if (isEqual) this.#collapsed++
    else this.#replaced++
  }

  #store(bytes: Buffer): Oid {
    if (bytes.length <= this.#limits.maxRowBytes) return this.#sink.put(bytes)
    throw limitExceeded('bytes a row', this.#limits.maxRowBytes)
  }

  #checkCount(count: number): void {
    if (count > this.#limits.maxRows) throw limitExceeded('rows', this.#limits.maxRows)
  }

  /** Joins a row without a dedup id with the first row of equal content that has one, at the earlier place. */
  async #collapse(slice: TimeSlice): Promise<void> {
    if (this.#nameless.size === 0 || this.#given.size === 0) return
    await slice.each(this.#rows, (row, place) => {
      const equal = row && this.#nameless.get(row.contentHash)
      if (row === undefined || equal === undefined || equal === place) return
      this.#collapsed++
      this.#nameless.delete(row.contentHash)
      this.#rows[place] = undefined
      this.#rows[Math.min(place, equal)] = row
      if (equal > place) this.#rows[equal] = undefined
    })
  }

  /** Appends `-2`, `-3` … to generated dedup ids that another row has, and writes those rows again. */
  async #nameRows(slice: TimeSlice): Promise<void> {
    await slice.each(this.#rows, (row, place) => {
      if (row === undefined || this.#nameless.get(row.contentHash) !== place) return undefined
      let key = row.key
      for (let number = 2; this.#given.has(key); number++) key = `${row.key}-${number}`
      this.#given.set(key, place)
      return key === row.key ? undefined : this.#rename(row, key, place)
    })
  }

  async #rename(row: CollectedRow, key: string, place: number): Promise<void> {
    const content = encodeContent(contentOf(decodeRow(await this.#sink.get(row.oid))))
    this.#rows[place] = { ...row, key, oid: this.#store(encodeRow(content, key)) }
  }
}

/** Refuses an amount past a limit of the service (interface 8.27): `limitExceeded('rows', 1000000)`. */
export function limitExceeded(what: string, limit: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `A testset holds at most ${limit} ${what}, and this would be more. Split it, or ask the operator for a higher limit.`,
    { details: { limit } },
  )
}
